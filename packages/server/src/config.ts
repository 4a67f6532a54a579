/** The configuration of a server process: a JSON file, BASA_SERVER_ variables, or both. */
import { fromHex } from '@basa/masking';
import { closed, commonKeys, commonOptions, hexText, readConfig, Type } from '@basa/service';
import type { ServerOptions } from './server.ts';

const schema = Type.Object(
  {
    ...commonKeys,
    authorityUrl: Type.String({ pattern: '^https?://' }),
    authorityKey: hexText(32),
    seatMs: Type.Optional(Type.Integer({ minimum: 1 })),
    tickMs: Type.Optional(Type.Integer({ minimum: 10 })),
    workers: Type.Optional(Type.Integer({ minimum: 1 })),
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
  const { authorityUrl, authorityKey, seatMs, tickMs, workers, mostBurntSlots, burntSlotsWithinMs } = config;
  return {
    ...commonOptions(config),
    authority: { url: authorityUrl, publicKey: fromHex(authorityKey) ?? new Uint8Array() },
    burntSlots: { most: mostBurntSlots, withinMs: burntSlotsWithinMs },
    ...(seatMs !== undefined && { seatMs }),
    ...(tickMs !== undefined && { tickMs }),
    ...(workers !== undefined && { workers }),
  };
}
