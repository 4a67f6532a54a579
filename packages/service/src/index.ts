/** The parts that both services of BASA share. */
export type { FastifyReply, FastifyRequest } from 'fastify';
export { Type } from 'typebox';
export type { Manifest } from './backup/backup.ts';
export { type BackupOptions, backupFolder, type RestoreOptions, restoreFolder } from './backup/backup.ts';
export { type ConfigKey, configKeys, exampleConfig, parseJson, readConfig, secretText } from './config/config.ts';
export {
  type CheckedConfig,
  type ConfigPlaces,
  commonKeys,
  configSchema,
  rateLimit,
  serviceConfig,
} from './config/service-config.ts';
export { createService, type Service } from './http/create-service.ts';
export {
  checkSender,
  type DeviceRouteOptions,
  deviceOf,
  rememberRequest,
  type SigningDevice,
} from './http/device-requests.ts';
export { networkOf } from './http/heads.ts';
export { type RateLimit, TokenBuckets } from './http/limits.ts';
export type { Address } from './http/listen.ts';
export {
  answers,
  BYTES_MEDIA_TYPE,
  bytesOf,
  checkDeclaredLength,
  closed,
  exchange,
  hexText,
  needDeclaredLength,
  sendBytes,
  wireBytes,
} from './http/messages.ts';
export { AUTHORITY_ROLES, type Operator, type Role, SERVER_ROLES } from './http/operators.ts';
export { answerRefusal, fail, granted, ServiceError } from './http/problems.ts';
export { ExpectedFault, type LogLevel, type LogOptions } from './http/service-log.ts';
export type { ServiceApp, ServiceOptions } from './http/service-options.ts';
export {
  type Answer,
  countAnswers,
  countDatabase,
  createMetrics,
  type Metrics,
  type Sample,
  timed,
  watchProcess,
} from './metrics/metrics.ts';
export { METRICS, type MetricName } from './metrics/table.ts';
export { createQueue, type OnClose, opened, type Queue, startTicker, type Ticker } from './process/lifecycle.ts';
export { type RunningService, type RunOptions, runIfProgram, runService } from './process/run-service.ts';
export { EXIT, type ExitReason, isStorageFull, StartError, wrongConfiguration } from './process/start-error.ts';
export {
  type Database,
  type OpenDatabase,
  openDatabase,
  readDatabase,
  transaction,
} from './sql/database.ts';
export { DatabaseUnavailable, openPostgres, POSTGRES, type PostgresOptions } from './sql/postgres.ts';
export { createPostgresTables } from './sql/postgres-format.ts';
export { openSignals, type Signals } from './sql/postgres-signals.ts';
export {
  type Application,
  column,
  type DatabaseOptions,
  type Dialect,
  FIRST_FORMAT,
  OLDER_DATA_ADVICE,
  type Row,
  type SqlDatabase,
  type SqlSession,
  type SqlValue,
  type SqlWatch,
} from './sql/sql.ts';
export { readOnlySqlite, SQLITE, sqliteDatabase } from './sql/sqlite.ts';
export { BatchTraces, type StepOf, traceHeaders } from './traces/batch-traces.ts';
