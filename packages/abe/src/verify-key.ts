/** Lets a user check a key before relying on it. */
import type { Group } from './group.ts';
import type { AttributeKey, PublicKey } from './keys.ts';

/**
 * True if every component opens ciphertexts for its attribute: the equation of decryption at s = 1, e(h, D) e(H(j), D'_j) e(-D_j, g2) = A.
 */
export function verifyKey({ publicKey, key }: { publicKey: PublicKey; key: AttributeKey }, group: Group): boolean {
  const { g1, g2, gt } = group;
  return key.components.every(({ attribute, dj, djPrime }) => {
    const product = group.pairingProduct([
      { g1: publicKey.h, g2: key.d },
      { g1: group.hashToG1(attribute), g2: djPrime },
      { g1: g1.negate(dj), g2: g2.generator },
    ]);
    return gt.equal(product, publicKey.a);
  });
}
