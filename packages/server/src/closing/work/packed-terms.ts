/** The terms of a mask plan as two arrays: there may be hundreds of thousands, and threads copy arrays in one operation. */
import { concatBytes, type MaskTerm, SEED_BYTES, Secret } from '@basa/masking';

export interface PackedTerms {
  /** One seed after the other. */
  readonly seeds: Uint8Array;
  /** 1 or -1 for each. */
  readonly signs: Int8Array;
}

export function packTerms(terms: readonly MaskTerm[]): PackedTerms {
  const seeds = new Uint8Array(terms.length * SEED_BYTES);
  for (const [n, { seed }] of terms.entries()) seeds.set(seed.reveal(), n * SEED_BYTES);
  return { seeds, signs: Int8Array.from(terms, ({ sign }) => sign) };
}

/** The seeds share the memory: wiping one wipes the other. */
export function unpackTerms({ seeds, signs }: PackedTerms): readonly MaskTerm[] {
  return Array.from(signs, (sign, n) => ({
    seed: new Secret(seeds.subarray(n * SEED_BYTES, (n + 1) * SEED_BYTES)),
    sign: sign as MaskTerm['sign'],
  }));
}

export function joinTerms(parts: readonly PackedTerms[]): PackedTerms {
  const signs = new Int8Array(parts.reduce((sum, part) => sum + part.signs.length, 0));
  let at = 0;
  for (const part of parts) {
    signs.set(part.signs, at);
    at += part.signs.length;
  }
  const seeds = concatBytes(...parts.map((part) => part.seeds));
  for (const part of parts) wipeTerms(part);
  return { seeds, signs };
}

export function wipeTerms({ seeds }: PackedTerms): void {
  seeds.fill(0);
}
