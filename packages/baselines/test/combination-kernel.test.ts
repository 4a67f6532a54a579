/** Both kernels against the slow twin, at the ends of the range and around the ends of their blocks. */
import { FIELD_PRIME } from '@basa/masking';
import { createWasmCombinationKernel } from '@basa/runtime/node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CombinationKernel, plainCombinationKernel } from '../src/field/combination-kernel.ts';
import { slowCombine } from './slow-combination.ts';
import { inputsFrom } from './support.ts';

const KERNELS: readonly (readonly [string, CombinationKernel | undefined])[] = [
  ['wasm', createWasmCombinationKernel()],
  ['plain', plainCombinationKernel()],
];
const word = fc.oneof(
  fc.integer({ min: 0, max: FIELD_PRIME - 1 }),
  fc.constantFrom(0, 1, 65_535, 65_536, FIELD_PRIME - 1, FIELD_PRIME - 6),
);

describe.each(KERNELS)('the %s kernel', (_, kernel) => {
  function combine(rows: readonly Uint32Array[], inputs: readonly Uint32Array[]): number[][] {
    const outputs = rows.map(() => new Uint32Array(inputs[0]?.length ?? 0).fill(7));
    kernel?.combine(rows, inputs, outputs);
    return outputs.map((output) => [...output]);
  }

  it('gives the same results as the twin', () => {
    const shapes = fc.tuple(
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 40 }),
    );
    const problem = shapes.chain(([inputs, rows, length]) =>
      fc.record({
        inputs: fc.array(fc.array(word, { minLength: length, maxLength: length }), {
          minLength: inputs,
          maxLength: inputs,
        }),
        rows: fc.array(fc.array(word, { minLength: inputs, maxLength: inputs }), { minLength: rows, maxLength: rows }),
      }),
    );
    fc.assert(
      fc.property(problem, ({ rows, inputs }) => {
        const [coefficients, vectors] = [rows, inputs].map((list) => list.map((values) => Uint32Array.from(values)));
        const twin = slowCombine(coefficients ?? [], vectors ?? [], BigInt(FIELD_PRIME));
        expect(combine(coefficients ?? [], vectors ?? [])).toEqual(twin);
      }),
    );
  });

  it.each([255, 256, 257, 2048, 2049])('combines %d words across the ends of its blocks', (length) => {
    const [inputs, rows] = [inputsFrom(1, 5, length), inputsFrom(2, 2, 5)];
    expect(combine(rows, inputs)).toEqual(slowCombine(rows, inputs, BigInt(FIELD_PRIME)));
  });

  it('does not overflow with 3,000 inputs of the largest words', () => {
    const inputs = Array.from({ length: 3000 }, () => new Uint32Array(9).fill(FIELD_PRIME - 1));
    const rows = [new Uint32Array(3000).fill(FIELD_PRIME - 1)];
    expect(combine(rows, inputs)).toEqual([new Array(9).fill(3000)]);
  });
});
