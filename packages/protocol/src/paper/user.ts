/**
 * Algorithm 2 of the paper (BASA-User): comments name its lines. Open the seeds of earlier users, make seeds for later ones, mask, send.
 *
 *     y_k = x_k - sum_{i<k} PRG(s_ik) + sum_{j>k} PRG(s_kj)
 *
 * UNSAFE outside experiments (attacks A1 to G1 of the threat model).
 */
import {
  type MaskPlan,
  type MaskTerm,
  type Modulus,
  quantize,
  type RandomBytes,
  type RandomWords,
  SEED_BYTES,
  Secret,
  type SeedSealing,
  type Suite,
} from '@basa/masking';
import type { Attribute } from '../wire/fields.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { type Staleness, stalenessWeight } from '../wire/training.ts';
import type { PaperConnection, PaperUpload } from './messages.ts';
import { paperContext } from './messages.ts';

/**
 * The user's input: x_k = Quant(alpha_k * clip(Delta_k)), quantised once, with alpha_k = S(t - tau_k). The paper multiplies a vector that is
 * quantised already, which is not defined in the group.
 */
export function paperInput(
  delta: Float32Array,
  { level, clip, modulus, staleness }: { level: number; clip: number; modulus: Modulus; staleness: Staleness },
  { version, trainedOn }: { readonly version: number; readonly trainedOn: number },
  randomWords: RandomWords,
): { readonly vector: Uint32Array; readonly alpha: number } {
  const alpha = stalenessWeight(staleness, Math.max(0, version - trainedOn));
  const { vector } = quantize(delta, { level, clip, modulus }, randomWords, alpha);
  return { vector, alpha };
}

export interface PaperUserPorts {
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
  readonly sealing: SeedSealing;
}

/** Lines 13-14: x_k with the masks of the plan is y_k; it is sent with the upload. */
export interface PaperContribution {
  readonly kind: 'contribution';
  readonly plan: MaskPlan;
  readonly upload: PaperUpload;
}

/**
 * Line 1: k, A and C_k are in the connection. Line 3: `key` is SK_k, which the user requested from the authority. alpha goes to the server
 * in clear.
 */
export function contributePaper(
  { randomBytes, sealing }: PaperUserPorts,
  { attributes, inbox, ticket }: PaperConnection,
  key: Uint8Array,
  { alpha, modulus }: { readonly alpha: number; readonly modulus: Modulus },
): PaperContribution | Refused {
  const { ctx, position: k } = ticket;
  // Line 2: y_k <- x_k. The terms are added to x_k by a kernel, all of them in one pass.
  const terms: MaskTerm[] = [];
  // Line 4: for i = 0 .. k-1 (printed: from 1, which would leave the masks of user 0 in the sum).
  for (const ciphertext of inbox) {
    // Line 5: s_ik <- Dec(c_ik, SK_k).
    const seed = sealing.open(ciphertext, key, paperContext(ctx, k));
    if (seed === undefined) return refused('key-invalid');
    // Line 6: y_k <- y_k - PRG(s_ik).
    terms.push({ seed: new Secret(seed), sign: -1 });
  }
  const ciphertexts: Uint8Array[] = [];
  // Line 8: for j = k+1 .. K-1 (printed: to K).
  for (let j = k + 1; j < attributes.length; j++) {
    // Line 9: s_kj <- a random seed.
    const seed = randomBytes(SEED_BYTES);
    // Line 10: y_k <- y_k + PRG(s_kj).
    terms.push({ seed: new Secret(seed), sign: 1 });
    // Line 11: c_kj = Enc(s_kj, a_j).
    ciphertexts.push(sealing.seal(seed, attributes[j] as Attribute, paperContext(ctx, j)));
  }
  // Lines 13-14: send y_k and {c_kj | k < j < K}.
  return { kind: 'contribution', plan: { modulus, salt: ctx, terms }, upload: { position: k, alpha, ciphertexts } };
}
