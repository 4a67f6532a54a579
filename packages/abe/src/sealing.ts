/** CP-ABE behind the `SeedSealing` port. */
import { DecodeError, type RandomBytes, SEED_BYTES, type SeedSealing, type Suite } from '@basa/masking';
import type { Group } from './group.ts';
import { decodeAttributeKey } from './key-codec.ts';
import type { PublicKey } from './keys.ts';
import { openerCache, type SeedOpener } from './opener-cache.ts';
import { attributeBytes } from './policy.ts';
import { EncryptionPool } from './pool.ts';
import { openSeed, SEALED_SEED_BYTES, sealSeed } from './seed.ts';

/** A sealing that keeps the last attribute key decoded, since one key opens many seeds. */
export interface CachedSealing extends SeedSealing {
  /** Decodes and checks a key once, for many seeds. Throws a `DecodeError` if the key bytes are malformed. */
  opener(attributeKey: Uint8Array): SeedOpener;
  /** Warms up code and tables: a cold process is several times slower. Call it while training. */
  warmUp(): void;
  /** Drops the cached key. */
  forget(): void;
  /** Drops the cached key and frees the tables, 1.4 MB of wasm memory that nothing else frees. */
  destroy(): void;
}

/**
 * Seals seeds to the holder of the key of one attribute. `open` returns undefined for anything a hostile sender may
 * have made; an `attributeKey` that does not encode a key for one attribute is a fault of its issuer and throws a
 * `DecodeError`. Seals through `pool` if there is one; it must belong to the same public key.
 */
export function abeSealing(tools: {
  readonly publicKey: PublicKey;
  readonly group: Group;
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
  readonly pool?: EncryptionPool;
}): CachedSealing {
  const { publicKey, group, suite } = tools;
  const pool = tools.pool ?? new EncryptionPool(publicKey, tools);
  if (pool.publicKey !== publicKey) throw new Error('the pool belongs to another public key');
  const opener = (attributeKey: Uint8Array): SeedOpener => {
    const { d, components } = decodeAttributeKey(attributeKey, group);
    const [component] = components;
    if (component === undefined || components.length > 1) throw new DecodeError('count', 'not a key for one attribute');
    const key = { d, djPrime: component.djPrime, djNegated: group.g1.negate(component.dj) };
    return (sealed, context) => openSeed({ key, sealed, context }, { group, suite });
  };
  const cache = openerCache(opener);
  return {
    name: `cp-abe (BSW07, ${group.name})`,
    sealedBytes: SEALED_SEED_BYTES,
    seal(seed, attribute, context) {
      checkSeed(seed);
      attributeBytes(attribute);
      return sealSeed({ part: pool.take(), seed, attribute, context }, { group, suite });
    },
    open: (sealed, attributeKey, context) => cache.opener(attributeKey)(sealed, context),
    opener,
    warmUp() {
      pool.buildTables();
      warmUpPairing(group);
    },
    forget: cache.forget,
    destroy() {
      cache.forget();
      if (tools.pool === undefined) pool.destroy(); // a pool that the caller passed in stays the caller's
    },
  };
}

function checkSeed(seed: Uint8Array): void {
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes, got ${seed.length}`);
}

/** Runs the code of opening often enough for the engine to compile it well. */
export function warmUpPairing(group: Group): void {
  const { g1, g2 } = group;
  const [p, q] = [g1.encode(g1.generator), g2.encode(g2.generator)];
  for (let i = 0; i < 3; i++) {
    const pair = { g1: g1.decode(p) ?? g1.generator, g2: g2.decode(q) ?? g2.generator };
    group.pairingProduct([pair, pair, pair]);
  }
}
