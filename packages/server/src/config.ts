/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, or both. */
import { fromHex } from '@basa/masking';
import { closed, commonKeys, commonOptions, hexText, readConfig, StartError, secretText, Type } from '@basa/service';
import type { SharedDatabase } from './open-store.ts';
import type { PageOptions } from './routes/pages.ts';
import type { ServerOptions } from './server.ts';

/** What `docs/reference/configuration.md` is written from. */
export const serverConfigSchema = Type.Object(
  {
    ...commonKeys,
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
  return {
    ...commonOptions(config),
    authority: { url: authorityUrl, publicKey: fromHex(authorityKey) ?? new Uint8Array() },
    burntSlots: { most: mostBurntSlots, withinMs: burntSlotsWithinMs },
    ...databaseOf(config),
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
