/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, or both. */
import { fromHex } from '@basa/masking';
import { closed, commonKeys, commonOptions, hexText, readConfig, Type } from '@basa/service';
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
