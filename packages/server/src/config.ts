/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, or both. */
import { fromHex } from '@basa/masking';
import { closed, commonKeys, commonOptions, hexText, readConfig, Type } from '@basa/service';
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
    ...(pagesFolder !== undefined && { pages: pagesOf(pagesFolder, config) }),
    ...(seatMs !== undefined && { seatMs }),
    ...(tickMs !== undefined && { tickMs }),
    ...(workers !== undefined && { workers }),
  };
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
