/** The parts that both services of BASA share. */
export type { FastifyReply, FastifyRequest } from 'fastify';
export { Type } from 'typebox';
export { type BackupOptions, backupFolder } from './backup/backup.ts';
export type { Manifest } from './backup/manifest.ts';
export { type RestoreOptions, restoreFolder } from './backup/restore.ts';
export { commonKeys, configSchema, rateLimit } from './config/common-config.ts';
export { readConfig, secretText } from './config/config.ts';
export { type ConfigKey, configKeys, exampleConfig } from './config/config-keys.ts';
export { parseJson } from './config/json-text.ts';
export { type CheckedConfig, type ConfigPlaces, serviceConfig } from './config/service-config.ts';
export { BYTES_MEDIA_TYPE, bytesOf, checkDeclaredLength, needDeclaredLength, sendBytes } from './http/bodies.ts';
export { createService, type Service } from './http/create-service.ts';
export {
  checkSender,
  type DeviceRouteOptions,
  deviceOf,
  rememberRequest,
  type SigningDevice,
} from './http/device-requests.ts';
export type { Address } from './http/listen.ts';
export { logEvent } from './http/log-event.ts';
export { networkOf } from './http/network.ts';
export { AUTHORITY_ROLES, type Operator, type Role, SERVER_ROLES } from './http/operators.ts';
export { answerRefusal, fail, granted, ServiceError } from './http/problem.ts';
export { answers, closed, exchange, hexText, wireBytes } from './http/schemas.ts';
export type { ServiceApp } from './http/service-app.ts';
export type { ServiceOptions } from './http/service-options.ts';
export { type RateLimit, TokenBuckets } from './http/token-buckets.ts';
export { type Answer, countAnswers } from './metrics/answers.ts';
export { countDatabase } from './metrics/database.ts';
export { createMetrics, type Metrics, type Sample, timed } from './metrics/metrics.ts';
export { watchProcess } from './metrics/process.ts';
export { METRICS, type MetricName } from './metrics/table.ts';
export type { LogLevel, LogOptions } from './process/logger.ts';
export { type OnClose, opened } from './process/opened.ts';
export { createQueue, type Queue } from './process/queue.ts';
export { type RunningService, type RunOptions, runIfProgram, runService } from './process/run-service.ts';
export { EXIT, type ExitReason, StartError, wrongConfiguration } from './process/start-error.ts';
export { isStorageFull } from './process/storage-full.ts';
export { startTicker, type Ticker } from './process/ticker.ts';
export {
  type Database,
  type OpenDatabase,
  openDatabase,
  readDatabase,
  transaction,
} from './sql/database.ts';
export { type Application, type DatabaseOptions, FIRST_FORMAT, OLDER_DATA_ADVICE } from './sql/formats.ts';
export { DatabaseUnavailable, openPostgres, POSTGRES, type PostgresOptions } from './sql/postgres.ts';
export { createPostgresTables } from './sql/postgres-format.ts';
export { openSignals, type Signals } from './sql/postgres-signals.ts';
export {
  column,
  type Dialect,
  type Row,
  type SqlDatabase,
  type SqlSession,
  type SqlValue,
  type SqlWatch,
} from './sql/sql.ts';
export { readOnlySqlite, SQLITE, sqliteDatabase } from './sql/sqlite.ts';
export { BufferTraces, type StepOf, traceHeaders } from './traces/buffer-traces.ts';
