/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, or both. */
import { fromHex } from '@basa/masking';
import { closed, commonKeys, commonOptions, hexText, readConfig, StartError, secretText, Type } from '@basa/service';
import type { SharedDatabase } from './open-store.ts';
import type { PageOptions } from './routes/pages.ts';
import type { ServerOptions } from './server.ts';

const schema = Type.Object(
  {
    ...commonKeys,
    authorityUrl: Type.String({ pattern: '^https?://' }),
    authorityKey: hexText(32),
    seatMs: Type.Optional(Type.Integer({ minimum: 1 })),
    tickMs: Type.Optional(Type.Integer({ minimum: 10 })),
    workers: Type.Optional(Type.Integer({ minimum: 1 })),
    pagesFolder: Type.Optional(Type.String({ minLength: 1 })),
    sharesFolder: Type.Optional(Type.String({ minLength: 1 })),
    pagesAuthorityUrl: Type.Optional(Type.String({ pattern: '^https?://' })),
    mostBurntSlots: Type.Integer({ minimum: 1, default: 20 }),
    burntSlotsWithinMs: Type.Integer({ minimum: 1, default: 3_600_000 }),
    databaseUrl: Type.Optional(secretText('postgres://user:password@host/database')),
    databaseConnections: Type.Optional(Type.Integer({ minimum: 2 })),
    signingKey: Type.Optional(secretText('the secret key of the server, 64 hexadecimal digits; with databaseUrl')),
    turnMs: Type.Optional(Type.Integer({ minimum: 100 })),
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
  const config = readConfig(schema, { ...places, prefix: 'BASA_SERVER_' });
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
