/** Algorithm 2 (BASA-User) of the paper: open the seeds of earlier users, make seeds for later ones, mask, upload. */
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
import type { Ctx, JoinTag } from '../wire/brands.ts';
import { sealingContext } from '../wire/naming.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { type Staleness, stalenessWeight } from '../wire/staleness.ts';
import type { PaperConnection } from './buffer.ts';
import type { PaperUpload } from './messages.ts';

export interface PaperUserPorts {
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
  readonly sealing: SeedSealing;
}

/** Public-key ciphertexts of the paper have no sender; the context only names buffer and position. */
const NOBODY = new Uint8Array(32) as JoinTag;

export interface PaperContribution {
  readonly kind: 'contribution';
  readonly plan: MaskPlan;
  readonly upload: PaperUpload;
}

/** `key` is SK_k, from the attribute authority; alpha goes to the server in clear. */
export function contributePaper(
  ports: PaperUserPorts,
  connection: PaperConnection,
  key: Uint8Array,
  { alpha, modulus }: { readonly alpha: number; readonly modulus: Modulus },
): PaperContribution | Refused {
  const { ctx, slot } = connection.ticket;
  const terms: MaskTerm[] = [];
  // Algorithm 2, lines 4-7, with i = 0 .. k-1 (decision 002).
  for (const ciphertext of connection.inbox) {
    const seed = ports.sealing.open(ciphertext, key, contextOf(ctx, slot));
    if (seed === undefined) return refused('key-invalid');
    terms.push({ seed: new Secret(seed), sign: -1 });
  }
  // Lines 8-12, j = k+1 .. K-1.
  const ciphertexts = connection.attributes.slice(slot + 1).map((attribute, n) => {
    const seed = ports.randomBytes(SEED_BYTES);
    terms.push({ seed: new Secret(seed), sign: 1 });
    return ports.sealing.seal(seed, attribute, contextOf(ctx, slot + 1 + n));
  });
  return { kind: 'contribution', plan: { modulus, salt: ctx, terms }, upload: { slot, alpha, ciphertexts } };
}

function contextOf(ctx: Ctx, slot: number): Uint8Array {
  return sealingContext(ctx, 'paper', NOBODY, slot);
}

/** x_k = Quant(alpha_k * clip(delta_k)), quantised once; alpha_k = S(t - tau_k) with the t sent on connect. */
export function paperInput(
  delta: Float32Array,
  { level, clip, modulus, staleness }: { level: number; clip: number; modulus: Modulus; staleness: Staleness },
  { version, trainedOn }: { readonly version: number; readonly trainedOn: number },
  randomWords: RandomWords,
): { readonly kind: 'input'; readonly vector: Uint32Array; readonly alpha: number } | Refused {
  const alpha = stalenessWeight(staleness, Math.max(0, version - trainedOn));
  const quantized = quantize(delta, { level, clip, modulus }, randomWords, alpha);
  if (quantized.kind === 'refused') return refused('not-finite', { detail: `entry ${quantized.index}` });
  return { kind: 'input', vector: quantized.vector, alpha };
}
