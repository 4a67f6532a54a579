import { wasmTools } from '@basa/testkit/core/tools.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIELD_PRIME, plainVectorKernel, type VectorKernel } from '../src/index.ts';

const EDGES = [
  0, 1, 4, 5, 6, 0x7fff_ffff, 0x8000_0000, 0xffff_fff5, 0xffff_fffa, 0xffff_fffb, 0xffff_fffc, 0xffff_ffff,
];
const word = fc.oneof(fc.constantFrom(...EDGES), fc.nat(0xffff_ffff));
const q = BigInt(FIELD_PRIME);

describe.each([
  ['wasm', (): VectorKernel => wasmTools().kernel],
  ['plain', (): VectorKernel => plainVectorKernel(64)],
])('the %s kernel', (_, makeKernel) => {
  const kernel = makeKernel();
  const pairs = fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 64 });

  it('adds and subtracts modulo 2^32 like BigInt', () => {
    fc.assert(
      fc.property(pairs, (words) => {
        const addend = load(kernel, words);
        kernel.addRing(addend, words.length, 4);
        expect(read(kernel, words)).toEqual(words.map(([a, b]) => (BigInt(a) + BigInt(b)) % 2n ** 32n));
        kernel.subtractRing(addend, words.length, 4);
        expect(read(kernel, words)).toEqual(words.map(([a]) => BigInt(a)));
      }),
    );
  });

  it('takes elements of one, two and three bytes as they lie in a stream', () => {
    const bytes = Uint8Array.from({ length: 192 }, (_, n) => (n * 89 + 7) % 256);
    for (const width of [1, 2, 3] as const) {
      for (const words of [1, 3, 4, 17, 63, 64]) {
        const elements = Array.from({ length: words }, (_, k) =>
          bytes.subarray(width * k, width * (k + 1)).reduceRight((word, byte) => 256 * word + byte, 0),
        );
        for (const sign of [1, -1]) {
          kernel.accumulator.fill(5);
          if (sign > 0) kernel.addRing(bytes, words, width);
          else kernel.subtractRing(bytes, words, width);
          expect([...kernel.accumulator.subarray(0, words)]).toEqual(elements.map((word) => (5 + sign * word) >>> 0));
        }
      }
    }
  });

  it('adds modulo q like BigInt for every representative, skips words outside the field and reports them', () => {
    fc.assert(
      fc.property(pairs, (words) => {
        const addend = load(kernel, words);
        expect(kernel.addField(addend, words.length)).toBe(words.some(([, b]) => b >= FIELD_PRIME));
        kernel.canonicalizeField(words.length);
        const expected = words.map(([a, b]) => (BigInt(a) + (b >= FIELD_PRIME ? 0n : BigInt(b))) % q);
        expect(read(kernel, words)).toEqual(expected);
      }),
    );
  });

  it('subtracts modulo q like BigInt, with the same rule', () => {
    fc.assert(
      fc.property(pairs, (words) => {
        const addend = load(kernel, words);
        expect(kernel.subtractField(addend, words.length)).toBe(words.some(([, b]) => b >= FIELD_PRIME));
        kernel.canonicalizeField(words.length);
        const expected = words.map(([a, b]) => (BigInt(a) + 2n * q - (b >= FIELD_PRIME ? 0n : BigInt(b))) % q);
        expect(read(kernel, words)).toEqual(expected);
      }),
    );
  });

  it('keeps exactly the low bits', () => {
    for (let bits = 2; bits <= 32; bits++) {
      kernel.accumulator.set([0xffff_ffff, 0x8000_0001]);
      kernel.maskBits(2, bits);
      expect(kernel.accumulator[0]).toBe(2 ** bits - 1);
      expect(kernel.accumulator[1]).toBe(bits === 32 ? 0x8000_0001 : 1);
    }
  });
});

it('the wasm kernel adds long blocks as it adds short ones, of every width and from any byte of memory', () => {
  const { kernel } = wasmTools();
  const plain = plainVectorKernel(kernel.blockWords);
  for (const words of [4095, 4096, 4097, 9001, kernel.blockWords]) {
    const bytes = Uint8Array.from({ length: 4 * words + 1 }, (_, n) => (n * 89 + (n >> 8)) % 256).subarray(1);
    for (const width of [1, 2, 3, 4] as const) {
      for (const { accumulator, addRing } of [kernel, plain]) {
        accumulator.fill(7);
        addRing(bytes, words, width);
      }
      expect(kernel.accumulator.subarray(0, words)).toEqual(plain.accumulator.subarray(0, words));
    }
  }
});

it('the wasm kernel ignores words that an earlier addend left behind', () => {
  const { kernel } = wasmTools();
  const [outside, inside] = [new Uint8Array(64).fill(0xff), new Uint8Array(4)];
  expect(kernel.addField(outside, 16)).toBe(true);
  expect(kernel.addField(inside, 1)).toBe(false);
});

it('a plain kernel of a block that is no multiple of 16 is refused', () => {
  expect(() => plainVectorKernel(24)).toThrow('multiple of 16');
});

/** Fills the accumulator, and gives the addend. */
function load(kernel: VectorKernel, words: readonly (readonly [number, number])[]): Uint8Array {
  kernel.accumulator.fill(0);
  kernel.accumulator.set(words.map(([a]) => a));
  return new Uint8Array(Uint32Array.from(words, ([, b]) => b).buffer);
}

function read(kernel: VectorKernel, words: readonly unknown[]): bigint[] {
  return [...kernel.accumulator.subarray(0, words.length)].map(BigInt);
}
