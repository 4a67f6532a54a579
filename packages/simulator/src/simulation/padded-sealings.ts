/** Sealing without encryption and without cost, with the lengths of a real sealing, for counting bytes and calls. */
import { concatBytes, type Suite, unsafeTransparentIssuer, unsafeTransparentSealing } from '@basa/masking';
import type { PaperSealings } from '../federation/world.ts';

export interface SealingSizes {
  readonly sealedBytes: number;
  readonly keyBytes: number;
}

/** Sealed seeds and keys of the requested lengths; contexts enter by their hash, so that 96 bytes are enough. */
export function paddedSealings(suite: Suite, { sealedBytes, keyBytes }: SealingSizes): PaperSealings {
  const inner = unsafeTransparentSealing({ seed: 32, attribute: 32, context: 32 });
  const transparent = unsafeTransparentIssuer();
  const padding = new Uint8Array(sealedBytes - inner.sealedBytes);
  return {
    issuer: {
      ...transparent,
      issue: (attribute) => concatBytes(attribute, new Uint8Array(keyBytes - attribute.length)),
    },
    sealing: {
      name: 'padded (unsafe)',
      sealedBytes,
      seal: (seed, attribute, context) => concatBytes(inner.seal(seed, attribute, suite.sha256(context)), padding),
      open: (sealed, key, context) =>
        inner.open(sealed.subarray(0, inner.sealedBytes), key.subarray(0, 32), suite.sha256(context)),
    },
  };
}
