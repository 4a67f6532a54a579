/** The configuration keys of both services, and their meanings. */
import { type TObject, type TProperties, Type } from 'typebox';
import type { Address } from '../http/listen.ts';
import type { Role } from '../http/operators.ts';
import { closed, hexText } from '../http/schemas.ts';
import { METRICS_ACCESS, SERVICE_DEFAULTS, type ServiceOptions } from '../http/service-options.ts';
import type { RateLimit } from '../http/token-buckets.ts';
import { LOG_LEVELS } from '../process/logger.ts';
import { wrongConfiguration } from '../process/start-error.ts';
import { readNamedFile } from './config.ts';

/** The size of a burst of requests from one sender, and the number per second after that. */
export function rateLimit(description: string, fallback?: RateLimit) {
  const numbers = { burst: Type.Number({ minimum: 1 }), perSecond: Type.Number({ exclusiveMinimum: 0 }) };
  return Type.Object(numbers, { ...closed, ...(fallback && { default: fallback }), description });
}

export const commonKeys = {
  dataFolder: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'folder for the data of this service only, on a local disk; or use databaseUrl',
      examples: ['./data'],
    }),
  ),
  host: Type.String({
    default: '127.0.0.1',
    description: 'address to listen on; `0.0.0.0` for all addresses of the machine',
  }),
  port: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    description: 'port to listen on; 0 for any free port',
    examples: [7800],
  }),
  tlsKeyFile: Type.Optional(Type.String({ description: 'PEM file with the private key of `tlsCertFile`' })),
  tlsCertFile: Type.Optional(Type.String({ description: 'PEM file with the TLS certificate; needs `tlsKeyFile`' })),
  hosts: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      'host names of the service in addition to `localhost` and `host`, also behind a proxy; requests for other names get `host-refused`',
  }),
  corsOrigins: Type.Array(Type.String(), {
    default: [],
    description:
      'origins of web pages that may use the service, in addition to its own; other origins get `origin-refused`',
  }),
  trustedProxies: Type.Integer({
    minimum: 0,
    default: SERVICE_DEFAULTS.trustedProxies,
    description: "number of proxies in front of the service that add the sender's address to `X-Forwarded-For`",
  }),
  logLevel: Type.Union(
    LOG_LEVELS.map((level) => Type.Literal(level)),
    { default: 'info', description: 'amount of logging, from nothing to everything' },
  ),
  metrics: Type.Union(
    METRICS_ACCESS.map((access) => Type.Literal(access)),
    {
      default: 'token',
      description:
        'access to `/metrics`: for nobody, for tokens with the role `metrics`, `operator` or `admin`, or for everybody',
    },
  ),
  drainMs: Type.Integer({
    minimum: 0,
    default: SERVICE_DEFAULTS.drainMs,
    description:
      'time for which the service still answers requests after SIGTERM, while it reports that it is not ready',
  }),
  addressLimit: rateLimit(
    'limit for the requests of one IPv4 address, or of one IPv6 /64 network',
    SERVICE_DEFAULTS.addressLimit,
  ),
  deviceLimit: rateLimit('limit for the requests of one device', SERVICE_DEFAULTS.deviceLimit),
  unsafePaperMode: Type.Boolean({
    default: false,
    description: "allow the paper's own mode, which does not protect updates",
  }),
} as const;

/** The tokens of a service with their roles. */
function operatorKey(roles: readonly Role[]) {
  const role = Type.Union(roles.map((one) => Type.Literal(one)));
  return Type.Array(Type.Object({ tokenHash: hexText(32), roles: Type.Array(role) }, closed), {
    default: [],
    description: `list of \`{ tokenHash, roles }\`: the SHA-256 of a token in hexadecimal digits, and its roles (${roles.map((one) => `\`${one}\``).join(', ')})`,
  });
}

type CommonKeys = typeof commonKeys & { readonly operators: ReturnType<typeof operatorKey> };

/** The schema of a service's configuration: the keys of both services with the roles of this one, and its own keys. */
export function configSchema<Own extends TProperties>(roles: readonly Role[], own: Own): TObject<CommonKeys & Own> {
  return Type.Object({ ...commonKeys, operators: operatorKey(roles), ...own }, closed);
}

export type CommonConfig = Type.Static<ReturnType<typeof Type.Object<CommonKeys>>>;

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
    throw wrongConfiguration('tlsKeyFile and tlsCertFile need each other, and one is missing; set both or neither');
  return { key: readNamedFile('tlsKeyFile', tlsKeyFile), cert: readNamedFile('tlsCertFile', tlsCertFile) };
}
