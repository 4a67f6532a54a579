import { seededWords } from '@basa/simulator/node';
import { wasmTools } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import {
  addInPlace,
  addPackedInPlace,
  dequantizeSum,
  FIELD,
  FIELD_PRIME,
  firstOutOfRange,
  type Modulus,
  modulusSize,
  packVector,
  plainVectorKernel,
  quantize,
  RING_32,
  ring,
  toResidue,
  unpackVector,
} from '../src/index.ts';

const { kernel } = wasmTools();
const MODULI = [ring(2), ring(7), ring(16), ring(20), ring(24), ring(25), ring(31), RING_32, FIELD];
/** Shorter than a vector of four, than a piece, than a block, and longer than each. */
const LENGTHS = [1, 3, 4, 5, 4095, 4097, 16_384, 16_391, 40_001];

/** Edges of the group, then numbers all over it. */
function residues(length: number, modulus: Modulus): Uint32Array {
  const size = modulusSize(modulus);
  const half = Math.floor(size / 2);
  const edges = [0, 1, size - 1, half, half - 1, half + 1, half - 2, half + 2].map((n) => ((n % size) + size) % size);
  return Uint32Array.from({ length }, (_, k) => edges[k] ?? ((k + 1) * 0x9e37_79b1) % size);
}

/** Byte by byte; matchers of long arrays take seconds. */
function expectSame(found: ArrayBufferView, expected: ArrayBufferView): void {
  const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
    new Uint8Array(buffer, byteOffset, byteLength);
  expect(Buffer.compare(bytesOf(found), bytesOf(expected))).toBe(0);
}

describe.each(
  MODULI.map((modulus) => [modulus.kind === 'field' ? 'the field' : `${modulus.bits} bits`, modulus] as const),
)('with the wasm kernel, in %s,', (_, modulus) => {
  it('entries are quantised to the same residues, and as many are clipped', () => {
    const clip = 0.9;
    const level = Math.min(2 ** 20, (modulusSize(modulus) - 1) / 4);
    for (const length of LENGTHS) {
      const values = Float32Array.from({ length }, (__, k) => Math.sin(k) * (k % 5 === 0 ? 1e-7 : 1));
      const [plain, fast] = [undefined, kernel].map((used) =>
        quantize(values, { level, clip, modulus }, seededWords(length), 0.7, { kernel: used }),
      );
      if (plain === undefined || fast === undefined) throw new Error('two kernels');
      expectSame(fast.vector, plain.vector);
      expect(fast.clipped).toBe(plain.clipped);
      expect(plain.clipped > 0).toBe(length > 1);
    }
  });

  it('vectors are packed to the same bytes and come back', () => {
    for (const length of LENGTHS) {
      const vector = residues(length, modulus);
      const packed = packVector(vector, modulus, kernel);
      expectSame(packed, packVector(vector, modulus));
      const unpacked = unpackVector(packed, length, modulus, kernel);
      if (unpacked.kind === 'malformed') throw new Error(unpacked.problem);
      expectSame(unpacked.vector, vector);
    }
  });

  it('packed vectors are added as unpacked ones are', () => {
    for (const length of LENGTHS) {
      const [start, vector] = [residues(length, modulus).reverse(), residues(length, modulus)];
      const packed = packVector(vector, modulus);
      const expected = start.slice();
      addInPlace(expected, vector, modulus, plainVectorKernel());
      for (const used of [kernel, plainVectorKernel()]) {
        const target = start.slice();
        expect(addPackedInPlace(target, packed, modulus, used)).toBeUndefined();
        expectSame(target, expected);
      }
    }
  });

  it('sums become the same floats', () => {
    for (const length of LENGTHS) {
      const sum = residues(length, modulus);
      const weights = { weightSum: 96.5, weightScale: 64 };
      expectSame(
        dequantizeSum(sum, { level: 1000, modulus }, weights, kernel),
        dequantizeSum(sum, { level: 1000, modulus }, weights),
      );
    }
  });

  it('the first entry out of range is the same, at every bound', () => {
    const most = Math.floor(modulusSize(modulus) / 2);
    for (const length of [3, 5, 16_391]) {
      const sum = new Uint32Array(length);
      sum[length - 1] = toResidue(-Math.min(most - 1, 2 ** 30), modulus);
      for (const vector of [sum, residues(length, modulus)])
        for (const bound of [0, 1, most - 2, most - 1, most, most + 1, 2 ** 30 - 1, 2 ** 30, 2 ** 40])
          expect(firstOutOfRange(vector, modulus, bound, kernel)).toBe(firstOutOfRange(vector, modulus, bound));
    }
  });
});

it.each([1 - 2 ** -30, 1, 1 + 2 ** -30, 0.1, 3e38])('the wasm kernel clips the same floats at %d', (clip) => {
  const near = new Uint32Array(Float32Array.of(clip).buffer)[0] as number;
  const bits = Uint32Array.from({ length: 16 }, (_, k) => near + (k >> 1) - 4 + 2 ** 31 * (k % 2));
  const [plain, fast] = [undefined, kernel].map((used) =>
    quantize(new Float32Array(bits.buffer), { level: 2 ** 20 / clip, clip, modulus: RING_32 }, seededWords(9), 1, {
      kernel: used,
    }),
  );
  expect(fast).toEqual(plain);
});

it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  'an update with an entry of %d counts as zeros with the wasm kernel, too',
  (bad) => {
    const values = new Float32Array(20_000).fill(0.5);
    values[17_123] = bad;
    const found = quantize(values, { level: 4, clip: 1, modulus: RING_32 }, seededWords(5), 1, { kernel });
    expect(found).toEqual({ vector: new Uint32Array(20_000), clipped: 0 });
  },
);

it.each([0.5, Number.NaN])('nothing of an update that ends with %d is left in the kernel', (last) => {
  const values = new Float32Array(5000).fill(0.5);
  values[4999] = last;
  quantize(values, { level: 1024, clip: 1, modulus: FIELD }, seededWords(1), 1, { kernel });
  expect(new Uint8Array(kernel.accumulator.buffer, 0, 131_072).every((byte) => byte === 0)).toBe(true);
});

it('an element with more bits than its ring cannot be packed, and is named', () => {
  const vector = new Uint32Array(20_000);
  vector[18_000] = 1 << 20;
  expect(() => packVector(vector, ring(20), kernel)).toThrow('element 18000');
});

it('packed bytes that are damaged are added by no kernel', () => {
  for (const used of [kernel, plainVectorKernel()]) {
    const target = new Uint32Array(3);
    expect(addPackedInPlace(target, new Uint8Array(7), ring(20), used)).toBe('7 bytes instead of 8 for 3 elements');
    expect(addPackedInPlace(target, new Uint8Array(8).fill(0xff), ring(20), used)).toContain('padding');
    const outside = new Uint8Array(Uint32Array.of(1, 2, FIELD_PRIME).buffer);
    expect(addPackedInPlace(target, outside, FIELD, used)).toBe('element 2 is not below the modulus');
    expect([...target]).toEqual([0, 0, 0]);
  }
});
