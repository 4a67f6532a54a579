/** The costs of vectors at the true dimension: loops over a million elements are bound by the cache. */
import type { AggregationTools } from '@basa/baselines';
import { WeightedMean } from '@basa/learning';
import {
  addInPlace,
  applyMasksInPlace,
  dequantizeSum,
  FIELD,
  firstOutOfRange,
  type Modulus,
  packVector,
  quantize,
  ring,
  Secret,
  unpackVector,
} from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { ModulusOperation, VectorPrices, WordOperation } from './costs.ts';
import { type Sampled, type Sampling, sample } from './sampling.ts';

/** The ring of a new task at K = 10: the narrowest in which ten entries of 32,768 steps to the clip cannot wrap. */
const PRICED_RING = ring(20);

const TERMS = 8;
const QUANTIZER = { level: 2 ** 15, clip: 1 } as const;

/** Words of an input before its coordinates. */
const PREFIX = 8;

/** Draws words like a client. */
function systemWords(target: Uint32Array): void {
  new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(nodeRandomBytes(target.byteLength));
}

export function vectorPrices(dimension: number, tools: AggregationTools, sampling: Sampling): VectorPrices {
  return {
    ring: modulusPrices('ring', PRICED_RING, dimension, tools, sampling),
    field: modulusPrices('field', FIELD, dimension, tools, sampling),
    words: wordPrices(dimension, sampling),
  };
}

function modulusPrices(
  kind: string,
  modulus: Modulus,
  dimension: number,
  { masks }: AggregationTools,
  sampling: Sampling,
): Readonly<Record<ModulusOperation, Sampled>> {
  const vector = new Uint32Array(dimension);
  const terms = Array.from({ length: TERMS }, () => ({ seed: new Secret(nodeRandomBytes(32)), sign: 1 as const }));
  const plan = { modulus, salt: new Uint8Array(32), terms };
  const values = Float32Array.from({ length: dimension }, (_, k) => Math.sin(k));
  const quantizer = { ...QUANTIZER, modulus };
  const { kernel } = masks;
  const first = quantize(values, quantizer, systemWords);
  const packed = packVector(first.vector, modulus);
  const timed = (name: ModulusOperation, work: () => void): Sampled =>
    sample(`${name} in the ${kind}, d = ${dimension}`, work, sampling);
  const expansions = timed('expand', () => applyMasksInPlace(vector, plan, masks));
  return {
    expand: { ...expansions, ms: expansions.ms / TERMS },
    add: timed('add', () => addInPlace(vector, first.vector, modulus, kernel)),
    // Like building an input: written after the words before it.
    quantise: timed('quantise', () => {
      const into = new Uint32Array(PREFIX + dimension).subarray(PREFIX);
      quantize(values, quantizer, systemWords, 1, { kernel, into });
    }),
    pack: timed('pack', () => void packVector(vector, modulus, kernel)),
    unpack: timed('unpack', () => void unpackVector(packed, dimension, modulus, kernel)),
    hashBody: timed('hashBody', () => void masks.suite.sha256(packed)),
    judge: timed('judge', () => {
      if (firstOutOfRange(first.vector, modulus, QUANTIZER.level, kernel) >= 0)
        throw new Error('an entry is out of range');
    }),
    dequantise: timed(
      'dequantise',
      () => void dequantizeSum(first.vector, { ...QUANTIZER, modulus }, { weightSum: 10, weightScale: 1 }, kernel),
    ),
  };
}

function wordPrices(dimension: number, sampling: Sampling): Readonly<Record<WordOperation, Sampled>> {
  const vector = new Uint32Array(dimension);
  const update = Float32Array.from({ length: dimension }, (_, k) => Math.sin(k));
  const mean = new WeightedMean(dimension);
  const timed = (name: WordOperation, work: () => void): Sampled => sample(`${name}, d = ${dimension}`, work, sampling);
  return {
    copy: timed('copy', () => void vector.slice()),
    floatAdd: timed('floatAdd', () => mean.add(update, 0.5)),
  };
}
