/** Encrypt of BSW07 (4.2) under an access tree. */
import type { RandomBytes, Suite } from '@basa/masking';
import type { Ciphertext, Encapsulation } from './ciphertext.ts';
import { encodeEncapsulation } from './ciphertext-codec.ts';
import type { Group } from './group.ts';
import { kemKey, sealOnce } from './kem.ts';
import type { PublicKey } from './keys.ts';
import { checkPolicy, leavesOf, type Policy } from './policy.ts';
import { EncryptionPool } from './pool.ts';
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
  /** Parts made ahead for this public key. */
  readonly pool?: EncryptionPool;
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
  { publicKey, policy, context, pool }: EncapsulateRequest,
  tools: EncryptTools,
): { readonly encapsulation: Encapsulation; readonly key: Uint8Array } {
  checkPolicy(policy);
  if (pool !== undefined && pool.publicKey !== publicKey) throw new Error('the pool belongs to another public key');
  const { group, suite } = tools;
  const source = pool ?? new EncryptionPool(publicKey, tools);
  const { s, c, g2s, secret } = source.take();
  const used = [s];
  const shares = shareSecret(policy, s, tools, used);
  const leaves = leavesOf(policy).map(({ attribute }, y) => {
    const share = shares[y] ?? s;
    return {
      cy: share === s ? g2s : source.g2Power(share), // C_y = g2^q_y(0)
      cyPrime: group.g1.multiply(group.hashToG1(attribute), share), // C'_y = H(att(y))^q_y(0)
    };
  });
  for (const scalar of used) group.scalars.wipe(scalar);
  const encapsulation = { policy, c, leaves };
  const header = encodeEncapsulation(encapsulation, group);
  const key = kemKey({ label: TREE_LABEL, secret: secret.reveal(), header, context }, suite);
  secret.wipe();
  return { encapsulation, key };
}
