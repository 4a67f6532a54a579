/** Sealing that hides nothing and costs nothing, with the lengths of a real one: for counting bytes and calls. */
import type { Suite } from '@basa/masking';
import { concatBytes, unsafeTransparentIssuer, unsafeTransparentSealing } from '@basa/masking';
import type { Sealings } from '@basa/simulator';

/** Sealed seeds as long as asked for, or as a transparent one where that is longer. */
export function paddedSealings(
  suite: Suite,
  { sealedBytes, keyBytes }: { readonly sealedBytes: number; readonly keyBytes: number },
): Sealings {
  const inner = unsafeTransparentSealing({ seed: 32, attribute: 32, context: 70 });
  const wanted = Math.max(sealedBytes, inner.sealedBytes);
  return {
    engine: 0,
    issuer: {
      ...unsafeTransparentIssuer(suite),
      issue: (attribute) => concatBytes(attribute, new Uint8Array(keyBytes - attribute.length)),
    },
    sealing: {
      name: 'padded (unsafe)',
      sealedBytes: wanted,
      seal: (...input) => concatBytes(inner.seal(...input), new Uint8Array(wanted - inner.sealedBytes)),
      open: (sealed, key, context) => inner.open(sealed.subarray(0, inner.sealedBytes), key.subarray(0, 32), context),
    },
  };
}
