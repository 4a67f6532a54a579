/** The keys of a configuration that both services have, and what they mean. */
import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Address } from './listen.ts';
import { LOG_LEVELS } from './logger.ts';
import { closed, hexText } from './schemas.ts';
import type { ServiceOptions } from './service-options.ts';
import { METRICS_ACCESS } from './service-options.ts';
import { StartError } from './start-error.ts';

const rateLimit = Type.Object(
  { burst: Type.Number({ minimum: 1 }), perSecond: Type.Number({ exclusiveMinimum: 0 }) },
  closed,
);

/** Spread into the `Type.Object` of a service's configuration. */
export const commonKeys = {
  dataFolder: Type.String({ minLength: 1 }),
  host: Type.String({ default: '127.0.0.1' }),
  port: Type.Integer({ minimum: 0, maximum: 65_535 }),
  tlsKeyFile: Type.Optional(Type.String()),
  tlsCertFile: Type.Optional(Type.String()),
  corsOrigins: Type.Optional(Type.Array(Type.String())),
  trustedProxies: Type.Optional(Type.Integer({ minimum: 0 })),
  logLevel: Type.Union(
    LOG_LEVELS.map((level) => Type.Literal(level)),
    { default: 'info' },
  ),
  operators: Type.Array(
    Type.Object(
      {
        tokenHash: hexText(32),
        roles: Type.Array(Type.Union([Type.Literal('operator'), Type.Literal('auditor'), Type.Literal('metrics')])),
      },
      closed,
    ),
    { default: [] },
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
  addressLimit: Type.Optional(rateLimit),
  deviceLimit: Type.Optional(rateLimit),
  unsafePaperMode: Type.Boolean({ default: false }),
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
