/** CP-ABE behind the `SeedSealing` port. */
import { DecodeError, equalBytes, type RandomBytes, SEED_BYTES, type SeedSealing, type Suite } from '@basa/masking';
import type { Group } from './group.ts';
import { decodeAttributeKey } from './key-codec.ts';
import type { PublicKey } from './keys.ts';
import { attributeBytes } from './policy.ts';
import { openSeed, SEALED_SEED_BYTES, type SeedKey, sealSeed } from './seed.ts';

/** A sealing that keeps the last attribute key decoded, since one key opens many seeds. */
export interface CachedSealing extends SeedSealing {
  /** Drops that key. */
  forget(): void;
}

/**
 * Seals seeds to the holder of the key of one attribute. `open` returns undefined for anything a hostile sender may
 * have made; an `attributeKey` that does not encode a key for one attribute is a fault of its issuer and throws a
 * `DecodeError`.
 */
export function abeSealing(tools: {
  readonly publicKey: PublicKey;
  readonly group: Group;
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
}): CachedSealing {
  const { publicKey, group } = tools;
  let last: { readonly attributeKey: Uint8Array; readonly key: SeedKey } | undefined;
  const forget = (): void => {
    last?.attributeKey.fill(0);
    last = undefined;
  };
  const decoded = (attributeKey: Uint8Array): SeedKey => {
    if (last !== undefined && equalBytes(last.attributeKey, attributeKey)) return last.key;
    const key = decodeSeedKey(attributeKey, group);
    forget();
    last = { attributeKey: attributeKey.slice(), key };
    return key;
  };
  return {
    name: `cp-abe (BSW07, ${group.name})`,
    sealedBytes: SEALED_SEED_BYTES,
    seal(seed, attribute, context) {
      checkSeed(seed);
      attributeBytes(attribute);
      return sealSeed({ publicKey, seed, attribute, context }, tools);
    },
    open: (sealed, attributeKey, context) => openSeed({ key: decoded(attributeKey), sealed, context }, tools),
    forget,
  };
}

/** Throws a `DecodeError` if the bytes are not a key for one attribute. */
function decodeSeedKey(attributeKey: Uint8Array, group: Group): SeedKey {
  const { d, components } = decodeAttributeKey(attributeKey, group);
  const [component] = components;
  if (component === undefined || components.length > 1) throw new DecodeError('count', 'not a key for one attribute');
  return { d, djPrime: component.djPrime, djNegated: group.g1.negate(component.dj) };
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
