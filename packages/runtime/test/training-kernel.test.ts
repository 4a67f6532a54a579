import { setFlagsFromString } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { createTrainingKernel, type WasmTrainingKernel } from '../src/node/index.ts';

// Node 20 has relaxed SIMD behind a flag; newer ones have it anyway, and do not know the flag.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd');

const SIZES = [1, 2, 3, 7, 16, 17, 33, 48];

it('every function of the port is there', () => {
  const functions = Object.values(createTrainingKernel() ?? {}).filter((value) => typeof value === 'function');
  expect(functions).toHaveLength(26);
});

describe.each([
  ['plain', false],
  ['relaxed', true],
])('the %s training kernel', (_, relaxed) => {
  it('multiplies matrices of every awkward size like a naive loop', () => {
    for (const m of SIZES) {
      for (const n of SIZES) {
        for (const k of [1, 5, 600]) {
          const { memory, kernel, at } = open(relaxed, [m * k, k * n, m * n, 16 * k * Math.ceil(n / 16)]);
          const [a, b, c, panels] = at as [number, number, number, number];
          kernel.packRows(panels, b, k, n);
          kernel.multiply(m, n, k, a, panels, c);
          const word = (address: number, index: number): number => memory[address / 4 + index] as number;
          for (const [row, column] of corners(m, n)) {
            let sum = Math.fround(value(c / 4 + row * n + column));
            for (let i = 0; i < k; i++) sum += word(a, row * k + i) * word(b, i * n + column);
            expect(Math.abs(word(c, row * n + column) - sum)).toBeLessThan(1e-4);
          }
        }
      }
    }
  });

  it('packs the transpose as it packs the rows of what was transposed before', () => {
    for (const [rows, columns] of [
      [5, 3],
      [16, 16],
      [7, 33],
      [20, 48],
    ] as const) {
      const words = rows * columns;
      const { memory, kernel, at } = open(relaxed, [words, words, 16 * rows * 3, 16 * rows * 3]);
      const [a, turned, one, other] = at as [number, number, number, number];
      for (let r = 0; r < rows; r++) {
        for (let c = 0; c < columns; c++) memory[turned / 4 + c * rows + r] = memory[a / 4 + r * columns + c] as number;
      }
      kernel.packRows(one, a, rows, columns);
      kernel.packColumns(other, turned, rows, columns);
      const length = 16 * rows * Math.ceil(columns / 16);
      expect(memory.slice(one / 4, one / 4 + length)).toEqual(memory.slice(other / 4, other / 4 + length));
    }
  });

  it('sums squares in double precision, to the last odd word', () => {
    const { memory, kernel, at } = open(relaxed, [101]);
    const [a = 0] = at;
    const expected = memory.slice(a / 4, a / 4 + 101).reduce((sum, x) => sum + x * x, 0);
    expect(kernel.squaredNorm(a, 101)).toBeCloseTo(expected, 5);
  });
});

it('a product writes nothing outside its own rows and columns', () => {
  const [m, n, k] = [3, 5, 4];
  const { memory, kernel, at } = open(false, [m * k, 16 * k, m * n]);
  const [a, panels, c] = at as [number, number, number];
  const before = memory.slice();
  kernel.multiply(m, n, k, a, panels, c);
  const changed = memory.map((word, index) => (word === before[index] ? 0 : index));
  const touched = [...changed].filter((index) => index > 1024);
  expect(touched.every((index) => index >= c / 4 && index < c / 4 + m * n)).toBe(true);
});

it('equal bits are asked for unless somebody says otherwise', () => {
  expect(createTrainingKernel()?.name).toBe('wasm SIMD');
  expect(createTrainingKernel({ equalBits: false })?.name).toBe('wasm relaxed SIMD');
});

/** A kernel whose memory holds the areas, each filled with small numbers and 64 bytes from the next. */
function open(
  relaxed: boolean,
  areas: readonly number[],
): { memory: Float32Array; kernel: WasmTrainingKernel; at: number[] } {
  const kernel = createTrainingKernel({ equalBits: !relaxed });
  if (kernel?.name !== (relaxed ? 'wasm relaxed SIMD' : 'wasm SIMD'))
    throw new Error('this Node lacks the SIMD it should have');
  const at: number[] = [];
  let next = kernel.start;
  for (const words of areas) {
    at.push(next);
    next += 64 * Math.ceil((4 * words) / 64 + 1);
  }
  const memory = new Float32Array(kernel.reserve(next - kernel.start));
  for (let n = kernel.start / 4; n < next / 4; n++) memory[n] = value(n);
  return { memory, kernel, at };
}

function value(index: number): number {
  return ((index * 2654435761) % 1000) / 1000 - 0.5;
}

function corners(m: number, n: number): readonly (readonly [number, number])[] {
  return [0, Math.floor(m / 2), m - 1].flatMap((row) => [0, Math.floor(n / 2), n - 1].map((c) => [row, c] as const));
}
