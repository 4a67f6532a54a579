/** The configuration of a service: the keys of both services with its own, the options that they set, and their risks. */

import { statSync } from 'node:fs';
import { Network } from '@basa/protocol/http';
import { type TObject, type TOptional, type TProperties, Type } from 'typebox';
import type { RateLimit } from '../http/limits.ts';
import type { Address } from '../http/listen.ts';
import { closed, hexText } from '../http/messages.ts';
import type { Role } from '../http/operators.ts';
import { LOG_LEVELS } from '../http/service-log.ts';
import { METRICS_ACCESS, SERVICE_DEFAULTS, type ServiceOptions } from '../http/service-options.ts';
import { checkIssuer, type SignInOptions, signInKey } from '../http/sign-in.ts';
import { wrongConfiguration } from '../process/start-error.ts';
import {
  type ConfigSources,
  type GatheredConfig,
  gatherConfig,
  readNamedFile,
  secretText,
  variableOf,
} from './config.ts';

// The configuration keys of both services, and their meanings.

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
  otlpUrl: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'address of an OpenTelemetry collector that gets the metrics once a minute (OTLP over HTTP, JSON)',
    }),
  ),
  otlpHeaders: Type.Optional(
    secretText('headers for otlpUrl, such as `authorization=Bearer ...`, separated by commas'),
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

type CommonKeys = typeof commonKeys & {
  readonly operators: ReturnType<typeof operatorKey>;
  readonly oidc: TOptional<ReturnType<typeof signInKey>>;
};

/** The schema of a service's configuration: the keys of both services with the roles of this one, and its own keys. */
export function configSchema<Own extends TProperties>(roles: readonly Role[], own: Own): TObject<CommonKeys & Own> {
  return Type.Object(
    { ...commonKeys, operators: operatorKey(roles), oidc: Type.Optional(signInKey(roles)), ...own },
    closed,
  );
}

export type CommonConfig = Type.Static<ReturnType<typeof Type.Object<CommonKeys>>>;

function commonOptions(config: CommonConfig): Omit<ServiceOptions, 'title' | 'audience' | 'clock' | 'metrics'> & {
  readonly listen: Address;
  readonly unsafePaperMode: boolean;
} {
  const { host, hosts, port, corsOrigins, trustedProxies, logLevel, operators, unsafePaperMode } = config;
  const { addressLimit, deviceLimit, metrics, drainMs, oidc, otlpUrl, otlpHeaders } = config;
  if (oidc !== undefined) checkIssuer(oidc);
  const tls = tlsOf(config);
  return {
    listen: { host, port },
    unsafePaperMode,
    operators,
    signIn: oidc,
    otlp: otlpUrl === undefined ? undefined : { url: otlpUrl, headers: otlpHeaders },
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

// Risky but valid settings of a configuration, one sentence each, for `basa config check`.

interface CommonValues {
  readonly host: string;
  readonly tlsCertFile?: string;
  readonly tlsKeyFile?: string;
  readonly hosts: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly operators: readonly unknown[];
  readonly oidc?: Pick<SignInOptions, 'issuer' | 'audience'> & {
    readonly roles: Readonly<Record<string, readonly string[]>>;
  };
  readonly otlpUrl?: string;
  readonly otlpHeaders?: string;
  readonly trustedProxies: number;
  readonly unsafePaperMode: boolean;
}

/** Returns the risks of a configuration of either service. `more`: other files that only their owner should read, by key. */
export function commonRisks(
  { config, secretFiles }: GatheredConfig<CommonValues>,
  more: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const { host, hosts, tlsCertFile, corsOrigins, operators, oidc, trustedProxies, unsafePaperMode } = config;
  const { otlpUrl, otlpHeaders } = config;
  const isOpen = !Network.isLoopback(host) && tlsCertFile === undefined;
  return [
    isOpen &&
      trustedProxies === 0 &&
      `host is ${host} without TLS: others on the network can read tokens and released keys; set tlsKeyFile and tlsCertFile`,
    isOpen &&
      trustedProxies > 0 &&
      `host is ${host} without TLS: make sure that only the proxy in front of the service can reach it`,
    (!Network.isLoopback(host) || trustedProxies > 0) &&
      hosts.length === 0 &&
      'hosts is empty: requests for a host name get `host-refused`; list the host names of the service',
    corsOrigins.includes('*') && 'corsOrigins contains "*", which matches no page; list each origin',
    operators.length === 0 && oidc === undefined && 'operators is empty: nobody can create tasks or enrol devices',
    oidc !== undefined &&
      Object.values(oidc.roles).some((roles) => roles.includes('enrol')) &&
      `oidc: whoever administers ${oidc.issuer}, or is shown a token for ${oidc.audience}, can let devices in; the owner of the server must be neither, so the server needs another audience`,
    otlpHeaders !== undefined &&
      otlpUrl?.startsWith('http:') === true &&
      !Network.isLoopback(new URL(otlpUrl).hostname) &&
      `otlpUrl is ${otlpUrl} without TLS: others on the network can read otlpHeaders; use an address with https://`,
    unsafePaperMode && 'unsafePaperMode is on: tasks in that mode do not protect updates',
    ...Object.entries({ ...secretFiles, ...more, tlsKeyFile: config.tlsKeyFile }).map(([key, path]) =>
      openFile(key, path),
    ),
  ].filter((risk) => typeof risk === 'string');
}

/** Returns a sentence if users other than its owner may read the file. */
function openFile(key: string, path: string | undefined): string | undefined {
  if (path === undefined || process.platform === 'win32') return undefined;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & 0o077) === 0 ? undefined : `${key}: other users can read ${path}; run chmod 600 ${path}`;
}

/** The operator of a server could enrol devices with a token that the authority accepts, too. */
export function sharedTokenRisk({ environment }: Pick<ConfigSources, 'environment'>): string | undefined {
  const [server = '', authority = ''] = ['BASA_SERVER_', 'BASA_AUTHORITY_'].map(
    (prefix) => environment[variableOf(prefix, 'operators')],
  );
  if (!(server.match(/[0-9a-f]{64}/g) ?? []).some((hash) => authority.includes(hash))) return undefined;
  return 'server and authority accept the same operator token, so a server that learns it can enrol its own devices; use one token for each';
}

/** The sources of the configuration. */
export type ConfigPlaces = Omit<ConfigSources, 'prefix'>;

export interface CheckedConfig<Config> extends GatheredConfig<Config> {
  readonly risks: readonly string[];
}

interface Own<Config, Options> {
  readonly schema: TObject;
  readonly prefix: string;
  optionsOf(config: Config): Options;
  /** The risks of its own keys, in sentences, and the files that only their owner should read, by key. */
  risksOf(
    config: Config,
    options: Options,
  ): {
    readonly risks: readonly (string | false | undefined)[];
    readonly secretFiles: Readonly<Record<string, string | undefined>>;
  };
}

/** Its functions throw a `StartError` that names the key. */
export interface ServiceConfig<Config, Options> {
  gather(places: ConfigPlaces): Config;
  read(places: ConfigPlaces): Options & ReturnType<typeof commonOptions>;
  /** The values in force, their sources and their risks. */
  check(places: ConfigPlaces): CheckedConfig<Config>;
}

export function serviceConfig<Config extends CommonConfig, Options extends object>({
  schema,
  prefix,
  optionsOf,
  risksOf,
}: Own<Config, Options>): ServiceConfig<Config, Options> {
  const gathered = (places: ConfigPlaces) => gatherConfig(schema, { ...places, prefix }) as GatheredConfig<Config>;
  const read = (config: Config) => ({ ...commonOptions(config), ...optionsOf(config) });
  return {
    gather: (places) => gathered(places).config,
    read: (places) => read(gathered(places).config),
    check(places) {
      const found = gathered(places);
      const { risks, secretFiles } = risksOf(found.config, read(found.config));
      const all = [...commonRisks(found, secretFiles), ...risks, sharedTokenRisk(places)];
      return { ...found, risks: all.filter((risk) => typeof risk === 'string') };
    },
  };
}
