/** The prices of the counted operations on this machine, measured in this run: the best of a few. */
import type { AggregationTools } from '@basa/baselines';
import { addInPlace, applyMasksInPlace, FIELD, type Modulus, packVector, Secret, unpackVector } from '@basa/masking';
import { nodeCrc32, nodeRandomBytes } from '@basa/runtime/node';
import { paperAbeSealings, sealingTrial } from '@basa/simulator/real-sealings';
import { cpuMs } from '@basa/simulator/virtual-time';

export interface VectorPrices {
  /** One mask expanded and added. */
  readonly expansionMs: number;
  readonly packMs: number;
  /** One upload read and added. */
  readonly addMs: number;
  /** SHA-256 of a vector. */
  readonly hashMs: number;
  /** CRC-32 of a vector. */
  readonly crcMs: number;
}

const TERMS = 8;

export function vectorPrices(dimension: number, { masks }: AggregationTools, modulus: Modulus = FIELD): VectorPrices {
  const vector = new Uint32Array(dimension);
  const terms = Array.from({ length: TERMS }, () => ({ seed: new Secret(nodeRandomBytes(32)), sign: 1 as const }));
  const plan = { modulus, salt: new Uint8Array(32), terms };
  const expansionMs = best(() => applyMasksInPlace(vector, plan, masks)) / TERMS;
  const packed = packVector(vector, modulus);
  const addMs = best(() => {
    const unpacked = unpackVector(packed, dimension, modulus);
    if (unpacked.kind === 'vector') addInPlace(vector, unpacked.vector, modulus, masks.kernel);
  });
  return {
    expansionMs,
    packMs: best(() => packVector(vector, modulus)),
    addMs,
    hashMs: best(() => void masks.suite.sha256(packed)),
    crcMs: best(() => void nodeCrc32(packed)),
  };
}

export interface SealingPrices {
  readonly seals: number;
  readonly opens: number;
  readonly issues: number;
  readonly sealedBytes: number;
  readonly keyBytes: number;
}

/** Prices of CP-ABE in milliseconds: seal and open a seed, issue a key; warm, as in a process that has sealed a buffer. */
export function abePrices(): SealingPrices {
  const { sealedBytes, keyBytes, seal, open, issue } = sealingTrial(paperAbeSealings());
  return {
    seals: best(seal, 60),
    opens: best(open, 20),
    issues: best(issue, 10),
    sealedBytes,
    keyBytes,
  };
}

export function best(work: () => void, turns = 4): number {
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < turns; turn++) {
    const began = cpuMs();
    work();
    least = Math.min(least, cpuMs() - began);
  }
  return least;
}
