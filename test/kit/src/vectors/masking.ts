/** Test vectors of the masking package: PRG, masked sums, quantiser, packing, planner, with negative ones. */
import { createHash } from 'node:crypto';
import {
  addInPlace,
  addNoiseInPlace,
  applyMasksInPlace,
  dequantizeSum,
  epsilonOf,
  FIELD,
  type MaskTerm,
  type Modulus,
  noiseTable,
  packVector,
  plainVectorKernel,
  planQuantizer,
  quantize,
  RING_32,
  ring,
  roundWithin,
  Secret,
  squaredBound,
  toHex,
  toSigned,
  unpackVector,
} from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite } from '@basa/runtime/node';

const tools = {
  suite: nodeSuite,
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};
const SALT = new Uint8Array(32).fill(0xa5);

/** With this seed the field meets a stream word >= q: found by search, at element 982057. */
const REJECTING_SEED = 2689;

const DIMENSIONS = [1, 7, 2 ** 20];

export function maskingVectors(): object {
  return {
    about:
      'Written by `npm run write -- vectors`; checked by the tests and, independently, by conformance/vectors/check.py.',
    prg: [
      ...[RING_32, FIELD].flatMap((modulus) => DIMENSIONS.map((d) => prgVector(1, modulus, d))),
      ...[2, 8, 9, 16, 20, 24, 25].map((bits) => prgVector(2, ring(bits), 1000)),
      { ...prgVector(REJECTING_SEED, FIELD, 2 ** 20), rejected: { index: 982_057, word: 4_294_967_292 } },
    ],
    sums: [sumVector(RING_32), sumVector(FIELD), sumVector(ring(16))],
    quantizer: quantizerVectors(),
    dequantize: dequantizeVectors(),
    accountant: accountantVectors(),
    noise: noiseVectors(),
    rounding: roundingVectors(),
    packing: packingVectors(),
    planner: plannerVectors(),
  };
}

function seedOf(n: number): Uint8Array {
  return nodeSuite.sha256(Buffer.from(`basa vector seed ${n}`));
}

function prgVector(seedNumber: number, modulus: Modulus, d: number): object {
  const mask = expand(seedNumber, modulus, d);
  return {
    modulus,
    seed: toHex(seedOf(seedNumber)),
    salt: toHex(SALT),
    d,
    first: [...mask.subarray(0, 4)],
    last: [...mask.subarray(-4)],
    sha256: createHash('sha256').update(new Uint8Array(mask.buffer)).digest('hex'),
  };
}

function expand(seedNumber: number, modulus: Modulus, d: number): Uint32Array {
  const mask = new Uint32Array(d);
  const terms: MaskTerm[] = [{ seed: new Secret(seedOf(seedNumber)), sign: 1 }];
  applyMasksInPlace(mask, { modulus, salt: SALT, terms }, tools);
  return mask;
}

/** Three users at positions 0, 1, 2: y_k = x_k - sum_{i<k} PRG(s_ik) + sum_{j>k} PRG(s_kj). */
function sumVector(modulus: Modulus): object {
  const inputs = [
    [1, 2, 3, 4, 5],
    [10, 20, 30, 40, 50],
    [7, 0, 0, 7, 1],
  ];
  const seedNumber = (i: number, j: number): number => 100 + 10 * i + j;
  const masked = inputs.map((input, k) => {
    const terms = inputs.flatMap((_, other): MaskTerm[] => {
      if (other === k) return [];
      const number = other < k ? seedNumber(other, k) : seedNumber(k, other);
      return [{ seed: new Secret(seedOf(number)), sign: other < k ? -1 : 1 }];
    });
    const vector = Uint32Array.from(input);
    applyMasksInPlace(vector, { modulus, salt: SALT, terms }, tools);
    return vector;
  });
  const sum = new Uint32Array(5);
  for (const vector of masked) addInPlace(sum, vector, modulus, tools.kernel);
  const seeds = Object.fromEntries(['01', '02', '12'].map((ij) => [ij, toHex(seedOf(100 + Number(ij)))]));
  return { modulus, salt: toHex(SALT), seeds, inputs, masked: masked.map((vector) => [...vector]), sum: [...sum] };
}

function quantizerVectors(): object[] {
  const values = [0.3, -0.3, 0, 1, -1, 2.5, -2.5, 0.999999, -1e-9, 0.1];
  const cases = [
    { level: 4, clip: 1, weight: 1, modulus: FIELD },
    { level: 65_536, clip: 2, weight: 1, modulus: RING_32 },
    { level: 1000, clip: 1, weight: 0.375, modulus: ring(16) },
  ];
  const finite = cases.flatMap((quantizer) =>
    [0, 0x3333_3333, 0x8000_0000, 0xffff_ffff].map((word) => {
      const result = quantize(Float64Array.from(values), quantizer, (target) => target.fill(word), quantizer.weight);
      return { ...quantizer, values, randomWord: word, vector: [...result.vector], clipped: result.clipped };
    }),
  );
  const bad = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((value) => {
    const quantizer = { level: 4, clip: 1, weight: 1, modulus: RING_32 };
    const { vector, clipped } = quantize(Float64Array.of(0.5, value), quantizer, () => {});
    return { ...quantizer, values: [0.5, String(value)], randomWord: 0, vector: [...vector], clipped };
  });
  return [...finite, ...bad];
}

function dequantizeVectors(): object[] {
  return [RING_32, FIELD, ring(20)].map((modulus) => {
    const size = modulus.kind === 'field' ? 4_294_967_291 : 2 ** modulus.bits;
    const sum = [0, 1, 655, size - 1, size - 655];
    const weights = { weightSum: 150_000, weightScale: 65_536 };
    const mean = dequantizeSum(Uint32Array.from(sum), { level: 1024, modulus }, weights);
    return { modulus, level: 1024, ...weights, sum, meanFloat32: [...mean] };
  });
}

function accountantVectors(): object[] {
  const rhos = [0.001, 1 / 32, 0.125, 0.5, 2, 8, 50];
  // Engines differ in the last digits of a logarithm.
  const rounded = (value: number): number => Number(value.toPrecision(12));
  return rhos.flatMap((rho) =>
    [1e-5, 1e-6, 1e-10].map((delta) => ({ rho, delta, epsilon: rounded(epsilonOf(rho, delta)) })),
  );
}

/** Draws at and beside bounds of the table, and some of a keystream. */
function noiseVectors(): object[] {
  return [16, 24.666_666_666_666_668, 6084.5].map((variance) => {
    const { first, rest } = noiseTable(variance);
    const bounds = [0, 1, 7, first.length - 1].map((k) => [first[k] ?? 0, ...rest.subarray(3 * k, 3 * k + 3)]);
    const edges = bounds.flatMap(([a = 0, b = 0, c = 0, d = 0]) => [
      [a, b, c, d],
      [a, b, c, d | 1],
      [a, b, c, d - 2],
      [a, b - 1, 0xffff_ffff, 0xffff_ffff],
    ]);
    const stream = expand(4, RING_32, 4 * 40);
    const random = Array.from({ length: 40 }, (_, n) => [...stream.subarray(4 * n, 4 * n + 4)]);
    const words = [...edges, ...random, [0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff]].map((draw) =>
      Uint32Array.from(draw),
    );
    const drawn = words.map((draw) => {
      const vector = new Uint32Array(1);
      addNoiseInPlace(vector, noiseTable(variance), RING_32, (target) => target.set(draw));
      return toSigned(vector[0] as number, RING_32);
    });
    return { variance, words: words.map((draw) => toHex(new Uint8Array(draw.buffer))), drawn };
  });
}

function roundingVectors(): object[] {
  const values = [0.3, -0.3, 0, 1, -1, 2.5, -2.5, 0.999999, -1e-9, 0.1];
  const cases = [
    { level: 7, clip: 1, weight: 1 },
    { level: 1000, clip: 10, weight: 1 },
    { level: 64, clip: 2, weight: 0.375 },
  ];
  return cases.flatMap((quantizer) =>
    [0x3333_3333, 0x8000_0000, 0xffff_ffff].map((randomWord) => {
      const same = (target: Uint32Array): void => void target.fill(randomWord);
      const rounded = roundWithin(Float64Array.from(values), quantizer, same, quantizer.weight);
      const bound = squaredBound(values.length, quantizer);
      return { ...quantizer, values, randomWord, squaredBound: bound, integers: [...rounded.integers] };
    }),
  );
}

function packingVectors(): object[] {
  const good = [2, 7, 16, 20, 24, 31, 32].map((bits) => {
    const vector = expand(3, ring(bits), 9);
    return { modulus: ring(bits), vector: [...vector], packed: toHex(packVector(vector, ring(bits))) };
  });
  const bad = [
    { why: 'one byte short', modulus: ring(20), elements: 2, packed: '00000000' },
    { why: 'one byte long', modulus: RING_32, elements: 1, packed: '0000000000' },
    { why: 'padding not zero', modulus: ring(20), elements: 1, packed: '000010' },
    { why: 'element = q', modulus: FIELD, elements: 1, packed: 'fbffffff' },
  ].map((vector) => {
    const result = unpackVector(new Uint8Array(Buffer.from(vector.packed, 'hex')), vector.elements, vector.modulus);
    if (result.kind !== 'malformed') throw new Error('accepted');
    return { ...vector, malformed: true };
  });
  return [...good, ...bad];
}

function plannerVectors(): object[] {
  const cases = [
    { summands: 10, clip: 10, level: 65_536, weightLimit: 1, modulus: FIELD },
    { summands: 10, clip: 0.2, level: 2 ** 24, weightLimit: 64, modulus: FIELD },
    { summands: 2_147_483_645, clip: 1, level: 1, weightLimit: 1, modulus: FIELD },
    { summands: 2_147_483_646, clip: 1, level: 1, weightLimit: 1, modulus: FIELD },
    { summands: 1, clip: 1, level: 2_147_483_647, weightLimit: 1, modulus: RING_32 },
    { summands: 1, clip: 1, level: 2_147_483_648, weightLimit: 1, modulus: RING_32 },
    { summands: 32, clip: 0.5, level: 2047, weightLimit: 1, modulus: ring(16) },
    { summands: 32, clip: 0.5, level: 2048, weightLimit: 1, modulus: ring(16) },
  ];
  return cases.map(({ level, ...request }) => {
    const planned = planQuantizer({ ...request, resolution: { level } });
    return { ...request, level, accepted: planned.kind === 'planned' };
  });
}
