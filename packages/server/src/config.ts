/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, settings of the command line, or all of them. */
import { join } from 'node:path';
import { fromHex } from '@basa/masking';
import type { ConfigSources, GatheredConfig } from '@basa/service';
import {
  closed,
  commonKeys,
  commonOptions,
  commonRisks,
  gatherConfig,
  hexText,
  isLoopback,
  StartError,
  secretText,
  sharedDatabaseRisk,
  Type,
} from '@basa/service';
import type { SharedDatabase } from './open-store.ts';
import type { PageOptions } from './routes/pages.ts';
import type { ServerOptions } from './server.ts';
import { SERVER_DEFAULTS, TURN_MS } from './server.ts';
import { KEY_FILE } from './server-key.ts';

const address = { pattern: '^https?://' };
const whole = (minimum: number, fallback: number, description: string) =>
  Type.Integer({ minimum, default: fallback, description });

export const serverConfig = Type.Object(
  {
    ...commonKeys,
    authorityUrl: Type.String({
      ...address,
      description: 'where the authority is',
      examples: ['https://authority.example.org'],
    }),
    authorityKey: Type.String({
      ...hexText(32, 'its public key in hex (`GET /v1/authority`)'),
      examples: ['0'.repeat(64)],
    }),
    seatMs: whole(1, SERVER_DEFAULTS.seatMs, 'how long a seat lives unused'),
    tickMs: whole(10, SERVER_DEFAULTS.tickMs, 'how often leases and ends are looked after'),
    workers: whole(1, SERVER_DEFAULTS.workers, 'threads that open sums and evaluate'),
    mostBurntSlots: whole(
      1,
      SERVER_DEFAULTS.burntSlots.most,
      'so many slots may a device leave unused, or spoil, before it waits for seats (`quota-exceeded`)',
    ),
    burntSlotsWithinMs: whole(1, SERVER_DEFAULTS.burntSlots.withinMs, 'within this time'),
    keepModels: Type.Optional(
      Type.Integer({
        minimum: 2,
        description: 'so many of the newest versions keep their parameters ([retention](#retention)); all, if not set',
      }),
    ),
    keepBuffersDays: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description:
          'so long the facts of a buffer are kept after its time ([retention](#retention)); for good, if not set',
      }),
    ),
    pagesFolder: Type.Optional(
      Type.String({ minLength: 1, description: 'web pages to serve, with the public event stream ([web.md](web.md))' }),
    ),
    sharesFolder: Type.Optional(Type.String({ minLength: 1, description: 'data that tabs may train on' })),
    pagesAuthorityUrl: Type.Optional(
      Type.String({ ...address, description: 'where pages find the authority; `authorityUrl`, if not set' }),
    ),
    databaseUrl: Type.Optional(
      secretText('`postgres://user:password@host/database`, for several nodes; `dataFolder` then holds blobs alone'),
    ),
    databaseConnections: Type.Optional(
      Type.Integer({ minimum: 2, description: 'of this node to the database, at most' }),
    ),
    signingKey: Type.Optional(secretText('the secret key of the server, 64 hexadecimal digits; with `databaseUrl`')),
    turnMs: whole(100, TURN_MS, 'how long a node may be silent before another one ends its buffers'),
  },
  closed,
);

export const SERVER_PREFIX = 'BASA_SERVER_';
const DAY_MS = 86_400_000;

/** Where the configuration comes from. */
export type ConfigPlaces = Omit<ConfigSources, 'prefix'>;
type Gathered = GatheredConfig<Type.Static<typeof serverConfig>>;

function gathered(places: ConfigPlaces): Gathered {
  return gatherConfig(serverConfig, { ...places, prefix: SERVER_PREFIX });
}

/** Throws a `StartError` that names the key. */
export function readServerConfig(places: ConfigPlaces): ServerOptions {
  return optionsOf(gathered(places));
}

/** The same with what is in force and where it comes from, and what it risks. */
export function checkServerConfig(places: ConfigPlaces): Gathered & { readonly risks: readonly string[] } {
  const found = gathered(places);
  optionsOf(found);
  const { dataFolder, authorityUrl, databaseUrl } = found.config;
  const secretFiles = databaseUrl === undefined ? { [KEY_FILE]: join(dataFolder, KEY_FILE) } : {};
  const isTogether = isLoopback(new URL(authorityUrl).hostname);
  const risks = [
    ...commonRisks(found, secretFiles),
    isTogether && 'authorityUrl is on this machine: whoever has both services can read every update; use two machines',
    sharedDatabaseRisk(places),
  ];
  return { ...found, risks: risks.filter((risk) => typeof risk === 'string') };
}

function optionsOf({ config }: Gathered): ServerOptions {
  const { authorityUrl, authorityKey, pagesFolder, seatMs, tickMs, workers, mostBurntSlots, burntSlotsWithinMs } =
    config;
  const { keepModels, keepBuffersDays } = config;
  return {
    ...commonOptions(config),
    authority: { url: authorityUrl, publicKey: fromHex(authorityKey) ?? new Uint8Array() },
    burntSlots: { most: mostBurntSlots, withinMs: burntSlotsWithinMs },
    keep: {
      ...(keepModels !== undefined && { models: keepModels }),
      ...(keepBuffersDays !== undefined && { buffersMs: keepBuffersDays * DAY_MS }),
    },
    seatMs,
    tickMs,
    workers,
    ...databaseOf(config),
    ...(pagesFolder !== undefined && { pages: pagesOf(pagesFolder, config) }),
  };
}

interface DatabaseKeys {
  readonly databaseUrl?: string;
  readonly databaseConnections?: number;
  readonly signingKey?: string;
  readonly turnMs: number;
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
      turnMs,
    },
  };
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
