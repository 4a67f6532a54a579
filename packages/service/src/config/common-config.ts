/** The keys of a configuration that both services have, and what they mean. */
import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Address } from '../http/listen.ts';
import { closed, hexText } from '../http/schemas.ts';
import { METRICS_ACCESS, SERVICE_DEFAULTS, type ServiceOptions } from '../http/service-options.ts';
import type { RateLimit } from '../http/token-buckets.ts';
import { LOG_LEVELS } from '../process/logger.ts';
import { wrongConfiguration } from '../process/start-error.ts';

/** The number of requests that one sender may make at once, and the number per second after that. */
export function rateLimit(description: string, fallback?: RateLimit) {
  const numbers = { burst: Type.Number({ minimum: 1 }), perSecond: Type.Number({ exclusiveMinimum: 0 }) };
  return Type.Object(numbers, { ...closed, ...(fallback && { default: fallback }), description });
}

/** Spread into the `Type.Object` of a service's configuration. */
export const commonKeys = {
  dataFolder: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'a folder of its own, on a local disk; or databaseUrl',
      examples: ['./data'],
    }),
  ),
  host: Type.String({
    default: '127.0.0.1',
    description: 'the address to listen at; `0.0.0.0` for all of the machine',
  }),
  port: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    description: '0 takes any free port',
    examples: [7800],
  }),
  tlsKeyFile: Type.Optional(Type.String({ description: 'PEM; goes with `tlsCertFile`' })),
  tlsCertFile: Type.Optional(Type.String({ description: 'PEM; goes with `tlsKeyFile`' })),
  hosts: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      'names by which the service is asked for, besides `localhost` and `host`, also behind a proxy; others get `host-refused`',
  }),
  corsOrigins: Type.Array(Type.String(), {
    default: [],
    description:
      "origins of web pages that may ask, besides the service's own, each by its name; others get `origin-refused`",
  }),
  trustedProxies: Type.Integer({
    minimum: 0,
    default: SERVICE_DEFAULTS.trustedProxies,
    description: "how many proxies before the service tell the sender's address in `X-Forwarded-For`",
  }),
  logLevel: Type.Union(
    LOG_LEVELS.map((level) => Type.Literal(level)),
    { default: 'info', description: 'how much is logged, from nothing to everything' },
  ),
  operators: Type.Array(
    Type.Object(
      {
        tokenHash: hexText(32),
        roles: Type.Array(Type.Union([Type.Literal('operator'), Type.Literal('auditor'), Type.Literal('metrics')])),
      },
      closed,
    ),
    {
      default: [],
      description: 'list of `{ tokenHash, roles }`: SHA-256 of a token in hex; `operator`, `auditor`, `metrics`',
    },
  ),
  metrics: Type.Union(
    METRICS_ACCESS.map((access) => Type.Literal(access)),
    {
      default: 'token',
      description: 'who may read `/metrics`: nobody, the roles `metrics` and `operator` by their token, or everybody',
    },
  ),
  drainMs: Type.Integer({
    minimum: 0,
    default: SERVICE_DEFAULTS.drainMs,
    description: 'how long it goes on serving, unready, after SIGTERM',
  }),
  addressLimit: rateLimit('requests of one address, or of one /64 of IPv6', SERVICE_DEFAULTS.addressLimit),
  deviceLimit: rateLimit('requests of one device', SERVICE_DEFAULTS.deviceLimit),
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
  readonly listen: Address;
  readonly unsafePaperMode: boolean;
} {
  const { host, hosts, port, corsOrigins, trustedProxies, logLevel, operators, unsafePaperMode } = config;
  const { addressLimit, deviceLimit, metrics, drainMs } = config;
  const tls = tlsOf(config);
  return {
    listen: { host, port },
    unsafePaperMode,
    operators,
    hosts,
    corsOrigins,
    trustedProxies,
    addressLimit,
    deviceLimit,
    log: { level: logLevel },
    metricsAccess: metrics,
    drainMs,
    ...(tls !== undefined && { tls }),
  };
}

function tlsOf({ tlsKeyFile, tlsCertFile }: CommonConfig): ServiceOptions['tls'] {
  if (tlsKeyFile === undefined && tlsCertFile === undefined) return undefined;
  if (tlsKeyFile === undefined || tlsCertFile === undefined)
    throw wrongConfiguration('tlsKeyFile and tlsCertFile go together; one is missing');
  const read = (key: string, path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw wrongConfiguration(`${key}: ${(error as Error).message}`);
    }
  };
  return { key: read('tlsKeyFile', tlsKeyFile), cert: read('tlsCertFile', tlsCertFile) };
}
