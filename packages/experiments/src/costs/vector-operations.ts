/** What vectors cost, at the true dimension: loops over a million elements are bound by the cache. */
import type { AggregationTools } from '@basa/baselines';
import { addInPlace, applyMasksInPlace, FIELD, packVector, quantize, Secret, unpackVector } from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import { seededWords } from '../simulation/environment.ts';
import type { VectorOperation } from './costs.ts';
import type { Sampled, Sampling } from './sampling.ts';
import { sample } from './sampling.ts';

const TERMS = 8;

export function vectorPrices(
  dimension: number,
  { masks }: AggregationTools,
  sampling: Sampling,
): Readonly<Record<VectorOperation, Sampled>> {
  const vector = new Uint32Array(dimension);
  const terms = Array.from({ length: TERMS }, () => ({ seed: new Secret(nodeRandomBytes(32)), sign: 1 as const }));
  const plan = { modulus: FIELD, salt: new Uint8Array(32), terms };
  const packed = packVector(vector, FIELD);
  const values = Float32Array.from({ length: dimension }, (_, k) => Math.sin(k));
  const quantizer = { level: 2 ** 16, clip: 1, modulus: FIELD };
  const words = seededWords(1);
  const timed = (name: VectorOperation, work: () => void): Sampled =>
    sample(`${name}, d = ${dimension}`, work, sampling);
  const expansions = timed('expand', () => applyMasksInPlace(vector, plan, masks));
  return {
    expand: { ...expansions, ms: expansions.ms / TERMS },
    add: timed('add', () => {
      const unpacked = unpackVector(packed, dimension, FIELD);
      if (unpacked.kind === 'vector') addInPlace(vector, unpacked.vector, FIELD, masks.kernel);
    }),
    quantise: timed('quantise', () => void quantize(values, quantizer, words)),
    pack: timed('pack', () => void packVector(vector, FIELD)),
    hash: timed('hash', () => void masks.suite.sha256(packed)),
  };
}
