/**
 * The ciphertext of one seed under a policy with one attribute. BASA sends thousands of them, so there is no header and no policy.
 *
 *     C(48) C_y(96) C'_y(48) seed and tag(48), 240 bytes
 */
import { concatBytes, type RandomBytes, SEED_BYTES, type Suite } from '@basa/masking';
import { type G1, G1_BYTES, type G2, G2_BYTES, type Group } from './group.ts';
import { kemKey, openOnce, sealOnce, TAG_BYTES } from './kem.ts';
import type { PublicKey } from './keys.ts';
import { randomScalar } from './random-scalar.ts';

const HEADER_BYTES = G1_BYTES + G2_BYTES + G1_BYTES;
export const SEALED_SEED_BYTES = HEADER_BYTES + SEED_BYTES + TAG_BYTES;

const SEED_LABEL = 'seed';

interface SeedTools {
  readonly group: Group;
  readonly suite: Suite;
}

export function sealSeed(
  request: { publicKey: PublicKey; seed: Uint8Array; attribute: Uint8Array; context: Uint8Array },
  { group, suite, randomBytes }: SeedTools & { readonly randomBytes: RandomBytes },
): Uint8Array {
  const { publicKey, seed, attribute, context } = request;
  const { g1, g2, gt, scalars } = group;
  const s = randomScalar(group, randomBytes);
  const c = g1.multiply(publicKey.h, s); // C = h^s
  const cy = g2.multiply(g2.generator, s); // C_y = g2^s
  const cyPrime = g1.multiply(group.hashToG1(attribute), s); // C'_y = H(x)^s
  const secret = gt.encode(gt.power(publicKey.a, s)); // A^s
  scalars.wipe(s);
  const header = concatBytes(g1.encode(c), g2.encode(cy), g1.encode(cyPrime));
  const key = kemKey({ label: SEED_LABEL, secret, header, context }, suite);
  return concatBytes(header, sealOnce(key, seed, suite));
}

/** The parts of a key for one attribute that opening needs. */
export interface SeedKey {
  readonly d: G2;
  readonly djPrime: G2;
  /** -D_j, so that its pairing divides. */
  readonly djNegated: G1;
}

/** Returns undefined if the bytes are malformed, or if key or context differ from those it was sealed for. */
export function openSeed(
  request: { key: SeedKey; sealed: Uint8Array; context: Uint8Array },
  { group, suite }: SeedTools,
): Uint8Array | undefined {
  const { key, sealed, context } = request;
  if (sealed.length !== SEALED_SEED_BYTES) return undefined;
  const c = group.g1.decode(sealed.subarray(0, G1_BYTES));
  const cyPrime = group.g1.decode(sealed.subarray(G1_BYTES + G2_BYTES, HEADER_BYTES));
  const cy = group.g2.decode(sealed.subarray(G1_BYTES, G1_BYTES + G2_BYTES));
  if (c === undefined || cyPrime === undefined || cy === undefined) return undefined;
  // A^s = e(C, D) e(C'_y, D'_j) / e(D_j, C_y)
  const shared = group.pairingProduct([
    { g1: c, g2: key.d },
    { g1: cyPrime, g2: key.djPrime },
    { g1: key.djNegated, g2: cy },
  ]);
  const header = sealed.subarray(0, HEADER_BYTES);
  const kem = kemKey({ label: SEED_LABEL, secret: group.gt.encode(shared), header, context }, suite);
  return openOnce(kem, sealed.subarray(HEADER_BYTES), suite);
}
