/** The tools of the baselines' tests. */
import { createCipheriv } from 'node:crypto';
import { FIELD_PRIME, type RandomBytes } from '@basa/masking';
import { wasmTools } from '@basa/testkit/core/tools.ts';
import type { AggregationTools } from '../src/aggregation.ts';
import { plainCombinationKernel } from '../src/field/combination-kernel.ts';

/** Bytes that repeat with their seed. */
export function seededBytes(seed: number): RandomBytes {
  const key = Buffer.alloc(16);
  key.writeUInt32LE(seed);
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  return (length) => new Uint8Array(cipher.update(new Uint8Array(length)));
}

export function toolsFrom(seed: number): AggregationTools {
  return { masks: wasmTools(), combinations: plainCombinationKernel(), randomBytes: seededBytes(seed) };
}

/** Inputs of small absolute value, as residues. */
export function inputsFrom(seed: number, users: number, dimension: number): Uint32Array[] {
  const randomBytes = seededBytes(seed);
  return Array.from({ length: users }, () => {
    const drawn = new Uint32Array(randomBytes(4 * dimension).buffer);
    return drawn.map((word) => (word % 2 === 0 ? word % 1000 : FIELD_PRIME - 1 - (word % 1000)));
  });
}

/** The sum, slow and obvious. */
export function slowSum(
  inputs: readonly Uint32Array[],
  users: readonly number[],
  weights?: readonly number[],
): number[] {
  const q = BigInt(FIELD_PRIME);
  return Array.from(inputs[0] ?? [], (_, k) =>
    Number(users.reduce((sum, user, n) => sum + BigInt(weights?.[n] ?? 1) * BigInt(inputs[user]?.[k] ?? 0), 0n) % q),
  );
}

/** Every tuple of this many digits below the base. */
export function tuples(base: number, length: number): number[][] {
  return Array.from({ length: base ** length }, (_, n) =>
    Array.from({ length }, (__, place) => Math.floor(n / base ** place) % base),
  );
}
