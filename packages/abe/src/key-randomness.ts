/** The source of r and r_j of a key: fresh randomness, or a PRF so that the same request gets the same key. */
import { ascii, ByteWriter, concatBytes, type RandomBytes, type Suite } from '@basa/masking';
import { WIDE_BYTES } from './group.ts';

/**
 * 64 bytes for each scalar of a key. Both scalars depend on the whole set: two keys with the same r_j but different r
 * would reveal g1^(r - r'), and with it break the protection against collusion (docs/decisions/smaller-decisions.md).
 */
export interface KeyRandomness {
  /** For r, which ties the components of one key together. */
  forKey(attributes: readonly Uint8Array[]): Uint8Array;
  /** For r_j of one attribute of the set. */
  forAttribute(attribute: Uint8Array, attributes: readonly Uint8Array[]): Uint8Array;
}

export function freshKeyRandomness(randomBytes: RandomBytes): KeyRandomness {
  return { forKey: () => randomBytes(WIDE_BYTES), forAttribute: () => randomBytes(WIDE_BYTES) };
}

/**
 * HKDF as the PRF, with one label for r and one for r_j. The PRF key is as secret as the master key and must be used
 * with one master key only.
 */
export function prfKeyRandomness({ prfKey, suite }: { prfKey: Uint8Array; suite: Suite }): KeyRandomness {
  if (prfKey.length < 32) throw new RangeError(`a PRF key has at least 32 bytes, got ${prfKey.length}`);
  const prf = (label: string, attributes: readonly Uint8Array[], attribute: Uint8Array): Uint8Array =>
    suite.hkdf({
      secret: prfKey,
      salt: ascii('basa-abe-v1 key randomness'),
      info: concatBytes(ascii(label), suite.sha256(...attributes.map(withLength)), attribute),
      length: WIDE_BYTES,
    });
  return {
    forKey: (attributes) => prf('r ', attributes, new Uint8Array(0)),
    forAttribute: (attribute, attributes) => prf('rj', attributes, attribute),
  };
}

function withLength(attribute: Uint8Array): Uint8Array {
  return new ByteWriter().shortBytes(attribute).finish();
}
