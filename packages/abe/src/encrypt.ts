/** Encrypt of BSW07 (4.2) under an access tree. */
import type { RandomBytes, Suite } from '@basa/masking';
import type { Ciphertext, Encapsulation } from './ciphertext.ts';
import { encodeEncapsulation } from './ciphertext-codec.ts';
import type { Group } from './group.ts';
import { kemKey, sealOnce } from './kem.ts';
import type { PublicKey } from './keys.ts';
import { checkPolicy, leavesOf, type Policy } from './policy.ts';
import { randomScalar } from './random-scalar.ts';
import { shareSecret } from './shares.ts';

export interface EncryptTools {
  readonly group: Group;
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
}

export interface EncapsulateRequest {
  readonly publicKey: PublicKey;
  readonly policy: Policy;
  /** Authenticated but not sent: the ciphertext opens only under the same context. */
  readonly context: Uint8Array;
}

export const TREE_LABEL = 'tree';

export function encrypt(
  request: EncapsulateRequest & { readonly plaintext: Uint8Array },
  tools: EncryptTools,
): Ciphertext {
  const { encapsulation, key } = encapsulate(request, tools);
  return { encapsulation, sealed: sealOnce(key, request.plaintext, tools.suite) };
}

/** Runs only the KEM: 32 bytes that every holder of satisfying attributes can compute from the encapsulation. */
export function encapsulate(
  { publicKey, policy, context }: EncapsulateRequest,
  tools: EncryptTools,
): { readonly encapsulation: Encapsulation; readonly key: Uint8Array } {
  checkPolicy(policy);
  const { group, suite } = tools;
  const { g1, g2, gt } = group;
  const s = randomScalar(group, tools.randomBytes);
  const used = [s];
  const shares = shareSecret(policy, s, tools, used);
  const leaves = leavesOf(policy).map(({ attribute }, y) => {
    const share = shares[y] ?? s;
    return {
      cy: g2.multiply(g2.generator, share), // C_y = g2^q_y(0)
      cyPrime: g1.multiply(group.hashToG1(attribute), share), // C'_y = H(att(y))^q_y(0)
    };
  });
  const c = g1.multiply(publicKey.h, s); // C = h^s
  const secret = gt.encode(gt.power(publicKey.a, s)); // A^s
  for (const scalar of used) group.scalars.wipe(scalar);
  const encapsulation = { policy, c, leaves };
  const header = encodeEncapsulation(encapsulation, group);
  const key = kemKey({ label: TREE_LABEL, secret, header, context }, suite);
  return { encapsulation, key };
}
