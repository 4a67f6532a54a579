/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, settings of the command line, or all of them. */
import { join } from 'node:path';
import { fromHex } from '@basa/masking';
import type { BasaEvent } from '@basa/protocol';
import { Network } from '@basa/protocol/http';
import {
  type Address,
  type CheckedConfig,
  type ConfigPlaces,
  configSchema,
  type RateLimit,
  rateLimit,
  SERVER_ROLES,
  type ServiceOptions,
  secretText,
  serviceConfig,
  Type,
  wrongConfiguration,
} from '@basa/service';
import type { BlobPlace, BodyPlace } from '../blobs/place.ts';
import type { PageOptions } from '../routes/pages.ts';
import { KEY_FILE, type SharedDatabase } from '../store/open-store.ts';
import type { Keep } from '../tasks/retention.ts';

export interface AuthorityAddress {
  readonly url: string;
  readonly publicKey: Uint8Array;
  readonly timeoutMs?: number;
}

export interface ServerOptions extends Omit<ServiceOptions, 'title' | 'audience' | 'clock' | 'metrics'> {
  /** Database, key and blobs; with `database` only the blobs, in a folder that all nodes share. */
  readonly dataFolder: string;
  /** Set if several nodes form one server. */
  readonly database?: SharedDatabase | undefined;
  /** The authorities that tasks of this server may name. */
  readonly authorities: readonly AuthorityAddress[];
  readonly listen: Address;
  /** The place of vectors and models; files below the data folder by default. */
  readonly blobs?: BlobPlace | undefined;
  readonly clock?: () => number;
  readonly fetch?: typeof fetch;
  readonly tickMs?: number;
  /** The interval at which the server asks the authorities for revoked devices. */
  readonly revocationsMs?: number;
  readonly workers?: number;
  /** The rate at which all devices of one task together may ask for places; unlimited by default. */
  readonly taskLimit?: RateLimit | undefined;
  /** The bytes of models and updates that each task may store; unlimited by default. */
  readonly taskBytes?: number | undefined;
  /** The history that is kept; everything by default. */
  readonly keep?: Keep;
  /** The interval at which data that is no longer kept is removed. */
  readonly tidyMs?: number;
  /** Serves tasks in the paper's own mode, which is not safe. */
  readonly unsafePaperMode?: boolean;
  /** Serves web pages and the event stream. The stream shows to every visitor when batches fill. */
  readonly pages?: PageOptions | undefined;
  onEvent?(event: BasaEvent): void;
}

/** The time for which a node may be silent before another one takes over its work. */
export const LEASE_MS = 10_000;
export const SERVER_DEFAULTS = {
  clock: (): number => Date.now(),
  fetch: ((...asked) => fetch(...asked)) as typeof fetch,
  tickMs: 500,
  revocationsMs: 60_000,
  workers: 1,
  keep: {} as Keep,
  tidyMs: 60_000,
  unsafePaperMode: false,
  onEvent: (_: BasaEvent): void => {},
};

export type Settings = typeof SERVER_DEFAULTS & ServerOptions;

/** The place of vectors and models. */
export function blobPlaceOf({ blobs, dataFolder, database }: ServerOptions): BlobPlace {
  return blobs ?? { kind: database === undefined ? 'files' : 'shared-files', folder: join(dataFolder, 'blobs') };
}

/** The same, with the database that holds small bodies. */
export function bodyPlaceOf(options: ServerOptions): BodyPlace {
  const { database, dataFolder } = options;
  const rows = database === undefined ? { folder: dataFolder } : { url: database.url };
  return { blobs: blobPlaceOf(options), rows };
}

const address = { pattern: '^https?://' };
const whole = (minimum: number, fallback: number, description: string) =>
  Type.Integer({ minimum, default: fallback, description });

/** `basa config print` and the page of all keys on the site are written from this. */
export const serverConfigSchema = configSchema(SERVER_ROLES, {
  authorityUrl: Type.String({
    ...address,
    description: 'address of the authority, or several separated by commas, in the order of authorityKey',
    examples: ['https://authority.example.org'],
  }),
  authorityKey: Type.String({
    pattern: '^[0-9a-f]{64}(,[0-9a-f]{64})*$',
    description:
      'public key of the authority in hexadecimal digits (`GET /v1/authority`), or several separated by commas',
    examples: ['0'.repeat(64)],
  }),
  tickMs: whole(10, SERVER_DEFAULTS.tickMs, 'interval at which the server looks after its tasks'),
  revocationsMs: whole(
    100,
    SERVER_DEFAULTS.revocationsMs,
    'interval at which the server asks the authorities for revoked devices',
  ),
  workers: whole(1, SERVER_DEFAULTS.workers, 'number of threads that open sums and evaluate models'),
  taskLimit: Type.Optional(
    rateLimit(
      'limit for the place requests of all devices of one task together, so that no task blocks the others (default: no limit)',
    ),
  ),
  taskBytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'limit for the bytes of kept models and waiting updates of each task; a task that has reached it begins nothing new (`task-storage-full`; default: no limit)',
    }),
  ),
  keepModels: Type.Optional(
    Type.Integer({
      minimum: 2,
      description: 'number of the newest versions whose parameters are kept (default: all)',
    }),
  ),
  keepBatchesDays: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: 'number of days for which the records of an ended batch are kept (default: forever)',
    }),
  ),
  pagesFolder: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'folder of the web pages to serve, together with their stream of live events',
    }),
  ),
  sharesFolder: Type.Optional(Type.String({ minLength: 1, description: 'folder with training data for browser tabs' })),
  tokensFolder: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'folder with enrolment tokens that the pages give to every visitor, as `basa dev` does; never use it for a real task',
    }),
  ),
  pagesAuthorityUrl: Type.Optional(
    Type.String({
      ...address,
      description: 'address at which browsers reach the authority (default: `authorityUrl`)',
    }),
  ),
  databaseUrl: Type.Optional(secretText('postgres://user:password@host/database, shared by all nodes of the server')),
  databaseConnections: Type.Optional(
    Type.Integer({ minimum: 2, description: 'number of database connections of this node (default: 10)' }),
  ),
  signingKey: Type.Optional(secretText('secret key of the server, 64 hexadecimal digits; needed with databaseUrl')),
  leaseMs: whole(100, LEASE_MS, 'time without a sign of life after which another node takes over the work of a node'),
  blobs: Type.Union([Type.Literal('files'), Type.Literal('database'), Type.Literal('s3')], {
    default: 'files',
    description: 'storage for vectors and models; several nodes share a folder, their database or an object store',
  }),
  s3Endpoint: Type.Optional(Type.String({ pattern: '^https?://', description: 'address of the object store' })),
  s3Region: Type.String({ default: 'us-east-1', description: 'region of the object store' }),
  s3Bucket: Type.Optional(
    Type.String({ minLength: 1, description: 'bucket in the object store, which only this server uses' }),
  ),
  s3AccessKeyId: Type.Optional(secretText('access key id for the object store')),
  s3SecretAccessKey: Type.Optional(secretText('secret access key for the object store')),
});

export const SERVER_PREFIX = 'BASA_SERVER_';
const DAY_MS = 86_400_000;

type Config = Type.Static<typeof serverConfigSchema>;

const config = serviceConfig({
  schema: serverConfigSchema,
  prefix: SERVER_PREFIX,
  optionsOf(given: Config) {
    const { authorityUrl, authorityKey, tickMs, revocationsMs, workers } = given;
    const { taskLimit, taskBytes, keepModels, keepBatchesDays } = given;
    return {
      dataFolder: folderOf(given),
      authorities: authoritiesOf(authorityUrl, authorityKey),
      taskLimit,
      taskBytes,
      keep: { models: keepModels, batchesMs: keepBatchesDays && keepBatchesDays * DAY_MS },
      tickMs,
      revocationsMs,
      workers,
      database: databaseOf(given),
      blobs: blobsOf(given),
      pages: pagesOf(given),
    };
  },
  risksOf({ dataFolder, authorityUrl, databaseUrl, tokensFolder }) {
    const isAlone = databaseUrl === undefined && dataFolder !== undefined;
    const isTogether = authorityUrl.split(',').every((url) => Network.isLoopback(new URL(url).hostname));
    return {
      secretFiles: isAlone ? { [KEY_FILE]: join(dataFolder, KEY_FILE) } : {},
      risks: [
        isTogether &&
          'authorityUrl is on this machine: a party that controls both services can read every update; use two machines',
        tokensFolder !== undefined && 'tokensFolder is set: anyone who can reach the server can enrol devices',
      ],
    };
  },
});

/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, settings of the command line, or all of them. */
export function readServerConfig(places: ConfigPlaces): ServerOptions {
  return config.read(places);
}

export function checkServerConfig(places: ConfigPlaces): CheckedConfig<Config> {
  return config.check(places);
}

function authoritiesOf(urls: string, keys: string): readonly AuthorityAddress[] {
  const [places, publicKeys] = [urls.split(','), keys.split(',')];
  if (places.length !== publicKeys.length)
    throw wrongConfiguration(
      `authorityUrl names ${places.length} authorities, but authorityKey has ${publicKeys.length} keys; give one key for each address`,
    );
  const odd = places.find((url) => !URL.canParse(url) || !/^https?:/.test(url));
  if (odd !== undefined) throw wrongConfiguration(`authorityUrl: "${odd}" must begin with http:// or https://`);
  return places.map((url, n) => ({ url, publicKey: fromHex(publicKeys[n] ?? '') ?? new Uint8Array() }));
}

function databaseOf(config: Config): SharedDatabase | undefined {
  const { databaseUrl, databaseConnections: connections, signingKey, leaseMs } = config;
  if (databaseUrl === undefined) {
    if (signingKey !== undefined)
      throw wrongConfiguration(
        'signingKey needs databaseUrl; without databaseUrl, the server uses server.key in dataFolder: remove signingKey',
      );
    return undefined;
  }
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) throw wrongConfiguration('databaseUrl must begin with postgres://');
  const secret = fromHex(signingKey?.trim() ?? '');
  if (secret?.length !== 32)
    throw wrongConfiguration(
      'databaseUrl needs signingKey, 64 hexadecimal digits, the same at every node (openssl rand -hex 32)',
    );
  return { url: databaseUrl, signingKey: secret, connections, leaseMs };
}

/** It can be left out only if nothing is stored in files. */
function folderOf({ dataFolder, databaseUrl, blobs }: Config): string {
  if (dataFolder !== undefined) return dataFolder;
  if (databaseUrl === undefined || blobs === 'files')
    throw wrongConfiguration('dataFolder is missing; set it, or use databaseUrl with blobs "database" or "s3"');
  return '';
}

function blobsOf(config: Config): BlobPlace | undefined {
  const { blobs, databaseUrl, s3Endpoint, s3Region: region, s3Bucket, s3AccessKeyId, s3SecretAccessKey } = config;
  if (blobs === 'files') return undefined;
  if (blobs === 'database') {
    if (databaseUrl === undefined) throw wrongConfiguration('blobs "database" needs databaseUrl');
    return { kind: 'database', url: databaseUrl };
  }
  if (s3Endpoint === undefined || s3Bucket === undefined)
    throw wrongConfiguration('blobs "s3" needs s3Endpoint and s3Bucket');
  if (s3AccessKeyId === undefined || s3SecretAccessKey === undefined)
    throw wrongConfiguration('blobs "s3" needs s3AccessKeyId and s3SecretAccessKey, from variables or files');
  const credentials = { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey };
  return { kind: 's3', endpoint: s3Endpoint, region, bucket: s3Bucket, ...credentials };
}

function pagesOf({ pagesFolder, sharesFolder, tokensFolder, pagesAuthorityUrl }: Config): PageOptions | undefined {
  if (pagesFolder === undefined) return undefined;
  return { folder: pagesFolder, tokensFolder, sharesFolder, authorityUrls: pagesAuthorityUrl?.split(',') };
}
