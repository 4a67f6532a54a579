/** Decrypt of BSW07 (4.2): every pairing in one product, with the Lagrange coefficients on the cheap side. */
import type { Suite } from '@basa/masking';
import type { Ciphertext, Encapsulation, LeafPart } from './ciphertext.ts';
import { encodeEncapsulation } from './ciphertext-codec.ts';
import { TREE_LABEL } from './encrypt.ts';
import type { G1, Group, PairingInput } from './group.ts';
import { kemKey, openOnce } from './kem.ts';
import type { AttributeKey, KeyComponent } from './keys.ts';
import { attributeId } from './policy.ts';
import { recombination } from './shares.ts';

export interface DecryptTools {
  readonly group: Group;
  readonly suite: Suite;
}

/** `not-authentic`: the key belongs to another authority, or the ciphertext or the context was changed after sealing. */
export type Decrypted =
  | { readonly kind: 'opened'; readonly plaintext: Uint8Array }
  | { readonly kind: 'refused'; readonly reason: 'policy-not-satisfied' | 'not-authentic' };

export function decrypt(
  request: { readonly ciphertext: Ciphertext; readonly key: AttributeKey; readonly context: Uint8Array },
  tools: DecryptTools,
): Decrypted {
  const { encapsulation, sealed } = request.ciphertext;
  const key = decapsulate({ ...request, encapsulation }, tools);
  if (key === undefined) return { kind: 'refused', reason: 'policy-not-satisfied' };
  const plaintext = openOnce(key, sealed, tools.suite);
  return plaintext === undefined ? { kind: 'refused', reason: 'not-authentic' } : { kind: 'opened', plaintext };
}

/**
 * Returns the 32 bytes of `encapsulate`, or undefined if the attributes do not satisfy the policy. Nothing is
 * authenticated yet: a changed encapsulation or context gives other bytes.
 */
export function decapsulate(
  request: { readonly encapsulation: Encapsulation; readonly key: AttributeKey; readonly context: Uint8Array },
  { group, suite }: DecryptTools,
): Uint8Array | undefined {
  const { encapsulation, key, context } = request;
  const pairs = pairsFor(encapsulation, key, group);
  if (pairs === undefined) return undefined;
  // e(C, D) = e(g1, g2)^(s (alpha + r)); the leaves take e(g1, g2)^(r s) away: A^s remains.
  const shared = group.pairingProduct([{ g1: encapsulation.c, g2: key.d }, ...pairs]);
  const header = encodeEncapsulation(encapsulation, group);
  return kemKey({ label: TREE_LABEL, secret: group.gt.encode(shared), header, context }, suite);
}

/** e(C'_y, D'_j) / e(D_j, C_y) = e(g1, g2)^(-r q_y(0)), to the power of y's coefficient, for the leaves in use. */
function pairsFor(encapsulation: Encapsulation, key: AttributeKey, group: Group): readonly PairingInput[] | undefined {
  const { g1 } = group;
  const held = new Map(key.components.map((component) => [attributeId(component.attribute), component]));
  const attributes = key.components.map(({ attribute }) => attribute);
  const uses = recombination(encapsulation.policy, attributes, group);
  return uses?.flatMap(({ leaf, attribute, coefficient }) => {
    const { dj, djPrime } = held.get(attributeId(attribute)) as KeyComponent; // only held attributes are in use
    const { cy, cyPrime } = encapsulation.leaves[leaf] as LeafPart;
    const power = (point: G1): G1 => (coefficient === undefined ? point : g1.multiply(point, coefficient));
    return [
      { g1: power(cyPrime), g2: djPrime },
      { g1: g1.negate(power(dj)), g2: cy },
    ];
  });
}
