/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, or both. */
import { fromHex } from '@basa/masking';
import { closed, commonKeys, commonOptions, hexText, readConfig, StartError, secretText, Type } from '@basa/service';
import type { BlobPlace } from './blobs/place.ts';
import type { SharedDatabase } from './open-store.ts';
import type { PageOptions } from './routes/pages.ts';
import type { ServerOptions } from './server.ts';

/** What `docs/reference/configuration.md` is written from. */
export const serverConfigSchema = Type.Object(
  {
    ...commonKeys,
    dataFolder: Type.Optional(
      Type.String({ minLength: 1, description: 'a folder of its own, on a local disk; or databaseUrl' }),
    ),
    authorityUrl: Type.String({ pattern: '^https?://', description: 'where the authority is' }),
    authorityKey: hexText(32, 'its public key'),
    seatMs: Type.Optional(Type.Integer({ minimum: 1, description: 'how long a seat lives unused (30000)' })),
    tickMs: Type.Optional(
      Type.Integer({ minimum: 10, description: 'how often leases and ends are looked after (500)' }),
    ),
    workers: Type.Optional(Type.Integer({ minimum: 1, description: 'threads that open sums and evaluate (1)' })),
    pagesFolder: Type.Optional(
      Type.String({ minLength: 1, description: 'web pages to serve, with the public event stream' }),
    ),
    sharesFolder: Type.Optional(Type.String({ minLength: 1, description: 'data that tabs may train on' })),
    pagesAuthorityUrl: Type.Optional(
      Type.String({ pattern: '^https?://', description: 'where pages find the authority (`authorityUrl`)' }),
    ),
    mostBurntSlots: Type.Integer({
      minimum: 1,
      default: 20,
      description: 'so many slots may a device leave unused, or spoil, before it waits for seats (`quota-exceeded`)',
    }),
    burntSlotsWithinMs: Type.Integer({
      minimum: 1,
      default: 3_600_000,
      description: 'the time in which they are counted',
    }),
    databaseUrl: Type.Optional(secretText('postgres://user:password@host/database, shared by all nodes of the server')),
    databaseConnections: Type.Optional(
      Type.Integer({ minimum: 2, description: 'connections of this node to the database (10)' }),
    ),
    signingKey: Type.Optional(secretText('the secret key of the server, 64 hexadecimal digits; with databaseUrl')),
    turnMs: Type.Optional(
      Type.Integer({
        minimum: 100,
        description: 'how long a node may be silent before another one ends its buffers (10000)',
      }),
    ),
    blobs: Type.Union([Type.Literal('files'), Type.Literal('database'), Type.Literal('s3')], {
      default: 'files',
      description: 'where vectors and models lie; several nodes share a folder, their database or an object store',
    }),
    s3Endpoint: Type.Optional(Type.String({ pattern: '^https?://', description: 'where the object store is' })),
    s3Region: Type.String({ default: 'us-east-1', description: 'of the object store' }),
    s3Bucket: Type.Optional(
      Type.String({ minLength: 1, description: 'of the object store, used by this server alone' }),
    ),
    s3AccessKeyId: Type.Optional(secretText('of the object store')),
    s3SecretAccessKey: Type.Optional(secretText('of the object store')),
  },
  closed,
);

export interface ConfigPlaces {
  readonly file?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly overrides?: Readonly<Record<string, unknown>>;
}

/** Throws a `StartError` that names the key. */
export function readServerConfig(places: ConfigPlaces): ServerOptions {
  const config = readConfig(serverConfigSchema, { ...places, prefix: 'BASA_SERVER_' });
  const { authorityUrl, authorityKey, pagesFolder, seatMs, tickMs, workers, mostBurntSlots, burntSlotsWithinMs } =
    config;
  const shared = databaseOf(config);
  return {
    ...commonOptions({ ...config, dataFolder: folderOf(config) }),
    authority: { url: authorityUrl, publicKey: fromHex(authorityKey) ?? new Uint8Array() },
    burntSlots: { most: mostBurntSlots, withinMs: burntSlotsWithinMs },
    ...shared,
    ...blobsOf(config),
    ...(pagesFolder !== undefined && { pages: pagesOf(pagesFolder, config) }),
    ...(seatMs !== undefined && { seatMs }),
    ...(tickMs !== undefined && { tickMs }),
    ...(workers !== undefined && { workers }),
  };
}

interface DatabaseKeys {
  readonly databaseUrl?: string;
  readonly databaseConnections?: number;
  readonly signingKey?: string;
  readonly turnMs?: number;
}

function databaseOf({ databaseUrl, databaseConnections, signingKey, turnMs }: DatabaseKeys): {
  readonly database?: SharedDatabase;
} {
  if (databaseUrl === undefined) {
    if (signingKey !== undefined)
      throw wrong('signingKey goes with databaseUrl; without it the key is server.key in dataFolder');
    return {};
  }
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) throw wrong('databaseUrl begins with postgres://');
  const secret = fromHex(signingKey?.trim() ?? '');
  if (secret?.length !== 32)
    throw wrong('databaseUrl needs signingKey, 64 hexadecimal digits, the same at every node (openssl rand -hex 32)');
  return {
    database: {
      url: databaseUrl,
      signingKey: secret,
      ...(databaseConnections !== undefined && { connections: databaseConnections }),
      ...(turnMs !== undefined && { turnMs }),
    },
  };
}

/** Only where nothing lies in files it can be left out. */
function folderOf({
  dataFolder,
  databaseUrl,
  blobs,
}: DatabaseKeys & BlobKeys & { readonly dataFolder?: string }): string {
  if (dataFolder !== undefined) return dataFolder;
  if (databaseUrl === undefined || blobs === 'files')
    throw wrong('dataFolder is missing; it can be left out with databaseUrl and blobs "database" or "s3"');
  return '';
}

interface BlobKeys {
  readonly blobs: 'files' | 'database' | 's3';
  readonly s3Endpoint?: string;
  readonly s3Region: string;
  readonly s3Bucket?: string;
  readonly s3AccessKeyId?: string;
  readonly s3SecretAccessKey?: string;
}

function blobsOf(config: DatabaseKeys & BlobKeys): { readonly blobs?: BlobPlace } {
  const { blobs, databaseUrl, s3Endpoint, s3Region: region, s3Bucket, s3AccessKeyId, s3SecretAccessKey } = config;
  if (blobs === 'files') return {};
  if (blobs === 'database') {
    if (databaseUrl === undefined) throw wrong('blobs "database" needs databaseUrl');
    return { blobs: { kind: 'database', url: databaseUrl } };
  }
  if (s3Endpoint === undefined || s3Bucket === undefined) throw wrong('blobs "s3" needs s3Endpoint and s3Bucket');
  if (s3AccessKeyId === undefined || s3SecretAccessKey === undefined)
    throw wrong('blobs "s3" needs s3AccessKeyId and s3SecretAccessKey, from variables or files');
  const credentials = { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey };
  return { blobs: { kind: 's3', endpoint: s3Endpoint, region, bucket: s3Bucket, ...credentials } };
}

function wrong(sentence: string): StartError {
  return new StartError('configuration', `configuration: ${sentence}`);
}

function pagesOf(
  folder: string,
  { sharesFolder, pagesAuthorityUrl }: { readonly sharesFolder?: string; readonly pagesAuthorityUrl?: string },
): PageOptions {
  return {
    folder,
    ...(sharesFolder !== undefined && { sharesFolder }),
    ...(pagesAuthorityUrl !== undefined && { authorityUrl: pagesAuthorityUrl }),
  };
}
