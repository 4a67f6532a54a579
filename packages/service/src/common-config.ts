/** The keys of a configuration that both services have, and what they mean. */
import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Address } from './listen.ts';
import { LOG_LEVELS } from './logger.ts';
import { closed, hexText } from './schemas.ts';
import type { ServiceOptions } from './service-options.ts';
import { METRICS_ACCESS } from './service-options.ts';
import { StartError } from './start-error.ts';

/** So many at once, then so many a second. */
export function rateLimit(description: string) {
  const fields = { burst: Type.Number({ minimum: 1 }), perSecond: Type.Number({ exclusiveMinimum: 0 }) };
  return Type.Object(fields, { ...closed, description });
}

/** Spread into the `Type.Object` of a service's configuration. */
export const commonKeys = {
  dataFolder: Type.String({ minLength: 1, description: 'a folder of its own, on a local disk' }),
  host: Type.String({ default: '127.0.0.1', description: 'the address it listens on' }),
  port: Type.Integer({ minimum: 0, maximum: 65_535, description: '0 takes any free port' }),
  tlsKeyFile: Type.Optional(Type.String({ description: 'PEM; with tlsCertFile' })),
  tlsCertFile: Type.Optional(Type.String({ description: 'PEM; with tlsKeyFile' })),
  corsOrigins: Type.Optional(
    Type.Array(Type.String(), {
      description: "origins of web pages that may ask, besides the service's own; others get `origin-refused`",
    }),
  ),
  trustedProxies: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "how many proxies before the service tell the sender's address in `X-Forwarded-For` (0)",
    }),
  ),
  logLevel: Type.Union(
    LOG_LEVELS.map((level) => Type.Literal(level)),
    { default: 'info', description: 'what is logged, and everything graver' },
  ),
  operators: Type.Array(
    Type.Object(
      {
        tokenHash: hexText(32),
        roles: Type.Array(Type.Union([Type.Literal('operator'), Type.Literal('auditor'), Type.Literal('metrics')])),
      },
      closed,
    ),
    { default: [], description: 'SHA-256 of each token in hex, and what it may do' },
  ),
  metrics: Type.Union(
    METRICS_ACCESS.map((access) => Type.Literal(access)),
    { default: 'token', description: 'who may read `/metrics`: nobody, operators by their token, or everybody' },
  ),
  drainMs: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'how long it goes on serving, unready, after SIGTERM',
  }),
  addressLimit: Type.Optional(rateLimit('requests of one address (400, then 200 a second)')),
  deviceLimit: Type.Optional(rateLimit('requests of one device (60, then 20 a second)')),
  unsafePaperMode: Type.Boolean({
    default: false,
    description: "serves the paper's own mode, which does not protect updates",
  }),
} as const;

type CommonConfig = Type.Static<ReturnType<typeof Type.Object<typeof commonKeys>>>;

export function commonOptions(config: CommonConfig): Omit<
  ServiceOptions,
  'title' | 'audience' | 'clock' | 'metrics'
> & {
  readonly dataFolder: string;
  readonly listen: Address;
  readonly unsafePaperMode: boolean;
} {
  const { dataFolder, host, port, corsOrigins, trustedProxies, logLevel, operators, unsafePaperMode } = config;
  const { addressLimit, deviceLimit, metrics, drainMs } = config;
  const tls = tlsOf(config);
  return {
    dataFolder,
    listen: { host, port },
    unsafePaperMode,
    operators,
    log: { level: logLevel },
    metricsAccess: metrics,
    drainMs,
    ...(corsOrigins !== undefined && { corsOrigins }),
    ...(trustedProxies !== undefined && { trustedProxies }),
    ...(addressLimit !== undefined && { addressLimit }),
    ...(deviceLimit !== undefined && { deviceLimit }),
    ...(tls !== undefined && { tls }),
  };
}

function tlsOf({ tlsKeyFile, tlsCertFile }: CommonConfig): ServiceOptions['tls'] {
  if (tlsKeyFile === undefined && tlsCertFile === undefined) return undefined;
  if (tlsKeyFile === undefined || tlsCertFile === undefined)
    throw new StartError('configuration', 'configuration: tlsKeyFile and tlsCertFile go together; one is missing');
  const read = (key: string, path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw new StartError('configuration', `configuration: ${key}: ${(error as Error).message}`);
    }
  };
  return { key: read('tlsKeyFile', tlsKeyFile), cert: read('tlsCertFile', tlsCertFile) };
}
