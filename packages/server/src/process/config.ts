/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, settings of the command line, or all of them. */
import { join } from 'node:path';
import { fromHex } from '@basa/masking';
import { isLoopback } from '@basa/protocol';
import {
  type ConfigSources,
  closed,
  commonKeys,
  commonOptions,
  commonRisks,
  type GatheredConfig,
  gatherConfig,
  rateLimit,
  secretText,
  sharedDatabaseRisk,
  Type,
  wrongConfiguration,
} from '@basa/service';
import type { BlobPlace } from '../blobs/place.ts';
import type { PageOptions } from '../routes/pages.ts';
import type { SharedDatabase } from '../store/open-store.ts';
import { KEY_FILE } from '../store/server-key.ts';
import { type AuthorityAddress, LEASE_MS, SERVER_DEFAULTS, type ServerOptions } from './settings.ts';

const address = { pattern: '^https?://' };
const whole = (minimum: number, fallback: number, description: string) =>
  Type.Integer({ minimum, default: fallback, description });

/** `basa config print` and the page of all keys on the site are written from this. */
export const serverConfigSchema = Type.Object(
  {
    ...commonKeys,
    authorityUrl: Type.String({
      ...address,
      description: 'where the authority is; several with commas between them, in the order of authorityKey',
      examples: ['https://authority.example.org'],
    }),
    authorityKey: Type.String({
      pattern: '^[0-9a-f]{64}(,[0-9a-f]{64})*$',
      description: 'its public key in hex (`GET /v1/authority`); several with commas between them',
      examples: ['0'.repeat(64)],
    }),
    seatMs: whole(1, SERVER_DEFAULTS.seatMs, 'how long a seat lives unused'),
    tickMs: whole(10, SERVER_DEFAULTS.tickMs, 'how often leases and ends are looked after'),
    revocationsMs: whole(
      100,
      SERVER_DEFAULTS.revocationsMs,
      'how often the authority is asked for revoked devices; besides, with every buffer it draws',
    ),
    workers: whole(1, SERVER_DEFAULTS.workers, 'threads that open sums and evaluate'),
    maxBurntSlots: whole(
      1,
      SERVER_DEFAULTS.burntSlots.max,
      'how many slots and places a device may leave unused, or slots spoil by name, before it waits for the next (`quota-exceeded`)',
    ),
    burntSlotsWithinMs: whole(1, SERVER_DEFAULTS.burntSlots.withinMs, 'the time in which they are counted'),
    taskLimit: Type.Optional(
      rateLimit(
        'how often all devices of one task together may ask for places, so that no task takes the time of others (no limit)',
      ),
    ),
    keepModels: Type.Optional(
      Type.Integer({
        minimum: 2,
        description: 'how many of the newest versions keep their parameters (all)',
      }),
    ),
    keepBuffersDays: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'how many days the facts of a buffer are kept after its time (for good)',
      }),
    ),
    pagesFolder: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'web pages to serve, with the event stream that shows when slots fill',
      }),
    ),
    sharesFolder: Type.Optional(Type.String({ minLength: 1, description: 'data that tabs may train on' })),
    pagesLogin: Type.Boolean({
      default: false,
      description:
        'the event stream is for the roles `operator` and `auditor`, who log in on the page, not for everybody',
    }),
    tokensFolder: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'enrolment tokens that pages hand out to everybody, as `basa dev` does; never for a real task',
      }),
    ),
    pagesAuthorityUrl: Type.Optional(
      Type.String({ ...address, description: 'where pages find the authority (`authorityUrl`)' }),
    ),
    databaseUrl: Type.Optional(secretText('postgres://user:password@host/database, shared by all nodes of the server')),
    databaseConnections: Type.Optional(
      Type.Integer({ minimum: 2, description: 'connections of this node to the database (10)' }),
    ),
    signingKey: Type.Optional(secretText('the secret key of the server, 64 hexadecimal digits; with databaseUrl')),
    leaseMs: whole(100, LEASE_MS, 'how long a node may be silent before another one ends its buffers'),
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

export const SERVER_PREFIX = 'BASA_SERVER_';
const DAY_MS = 86_400_000;

/** The sources of the configuration. */
export type ConfigPlaces = Omit<ConfigSources, 'prefix'>;
type Gathered = GatheredConfig<Type.Static<typeof serverConfigSchema>>;

function gathered(places: ConfigPlaces): Gathered {
  return gatherConfig(serverConfigSchema, { ...places, prefix: SERVER_PREFIX });
}

/** Throws a `StartError` that names the key. */
export function readServerConfig(places: ConfigPlaces): ServerOptions {
  return optionsOf(gathered(places));
}

/** The same, with the values in force, their sources and their risks. */
export function checkServerConfig(places: ConfigPlaces): Gathered & { readonly risks: readonly string[] } {
  const found = gathered(places);
  optionsOf(found);
  const { dataFolder, authorityUrl, databaseUrl, tokensFolder } = found.config;
  const isAlone = databaseUrl === undefined && dataFolder !== undefined;
  const secretFiles = isAlone ? { [KEY_FILE]: join(dataFolder, KEY_FILE) } : {};
  const isTogether = authorityUrl.split(',').every((url) => isLoopback(new URL(url).hostname));
  const risks = [
    ...commonRisks(found, secretFiles),
    isTogether &&
      'authorityUrl is on this machine: a party that controls both services can read every update; use two machines',
    tokensFolder !== undefined && 'tokensFolder is set: anyone who can reach the server can enrol devices',
    sharedDatabaseRisk(places),
  ];
  return { ...found, risks: risks.filter((risk) => typeof risk === 'string') };
}

function optionsOf({ config }: Gathered): ServerOptions {
  const { authorityUrl, authorityKey, pagesFolder, seatMs, tickMs, revocationsMs, workers } = config;
  const { maxBurntSlots, burntSlotsWithinMs, taskLimit } = config;
  const { keepModels, keepBuffersDays } = config;
  return {
    ...commonOptions(config),
    dataFolder: folderOf(config),
    authorities: authoritiesOf(authorityUrl, authorityKey),
    burntSlots: { max: maxBurntSlots, withinMs: burntSlotsWithinMs },
    ...(taskLimit !== undefined && { taskLimit }),
    keep: {
      ...(keepModels !== undefined && { models: keepModels }),
      ...(keepBuffersDays !== undefined && { buffersMs: keepBuffersDays * DAY_MS }),
    },
    seatMs,
    tickMs,
    revocationsMs,
    workers,
    ...databaseOf(config),
    ...blobsOf(config),
    ...(pagesFolder !== undefined && { pages: pagesOf(pagesFolder, config) }),
  };
}

function authoritiesOf(urls: string, keys: string): readonly AuthorityAddress[] {
  const [places, publicKeys] = [urls.split(','), keys.split(',')];
  if (places.length !== publicKeys.length)
    throw wrongConfiguration(`authorityUrl names ${places.length} authorities, authorityKey ${publicKeys.length}`);
  const odd = places.find((url) => !URL.canParse(url) || !/^https?:/.test(url));
  if (odd !== undefined)
    throw wrongConfiguration(`authorityUrl: "${odd}" is no address that begins with http:// or https://`);
  return places.map((url, n) => ({ url, publicKey: fromHex(publicKeys[n] ?? '') ?? new Uint8Array() }));
}

interface DatabaseKeys {
  readonly databaseUrl?: string;
  readonly databaseConnections?: number;
  readonly signingKey?: string;
  readonly leaseMs: number;
}

function databaseOf({ databaseUrl, databaseConnections, signingKey, leaseMs }: DatabaseKeys): {
  readonly database?: SharedDatabase;
} {
  if (databaseUrl === undefined) {
    if (signingKey !== undefined)
      throw wrongConfiguration('signingKey goes with databaseUrl; without it the key is server.key in dataFolder');
    return {};
  }
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) throw wrongConfiguration('databaseUrl begins with postgres://');
  const secret = fromHex(signingKey?.trim() ?? '');
  if (secret?.length !== 32)
    throw wrongConfiguration(
      'databaseUrl needs signingKey, 64 hexadecimal digits, the same at every node (openssl rand -hex 32)',
    );
  return {
    database: {
      url: databaseUrl,
      signingKey: secret,
      ...(databaseConnections !== undefined && { connections: databaseConnections }),
      leaseMs,
    },
  };
}

/** It can be left out only if nothing is stored in files. */
function folderOf({
  dataFolder,
  databaseUrl,
  blobs,
}: DatabaseKeys & BlobKeys & { readonly dataFolder?: string }): string {
  if (dataFolder !== undefined) return dataFolder;
  if (databaseUrl === undefined || blobs === 'files')
    throw wrongConfiguration('dataFolder is missing; it can be left out with databaseUrl and blobs "database" or "s3"');
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
    if (databaseUrl === undefined) throw wrongConfiguration('blobs "database" needs databaseUrl');
    return { blobs: { kind: 'database', url: databaseUrl } };
  }
  if (s3Endpoint === undefined || s3Bucket === undefined)
    throw wrongConfiguration('blobs "s3" needs s3Endpoint and s3Bucket');
  if (s3AccessKeyId === undefined || s3SecretAccessKey === undefined)
    throw wrongConfiguration('blobs "s3" needs s3AccessKeyId and s3SecretAccessKey, from variables or files');
  const credentials = { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey };
  return { blobs: { kind: 's3', endpoint: s3Endpoint, region, bucket: s3Bucket, ...credentials } };
}

interface PageKeys {
  readonly sharesFolder?: string;
  readonly tokensFolder?: string;
  readonly pagesAuthorityUrl?: string;
  readonly pagesLogin: boolean;
}

function pagesOf(folder: string, { sharesFolder, tokensFolder, pagesAuthorityUrl, pagesLogin }: PageKeys): PageOptions {
  return {
    folder,
    needsLogin: pagesLogin,
    ...(tokensFolder !== undefined && { tokensFolder }),
    ...(sharesFolder !== undefined && { sharesFolder }),
    ...(pagesAuthorityUrl !== undefined && { authorityUrls: pagesAuthorityUrl.split(',') }),
  };
}
