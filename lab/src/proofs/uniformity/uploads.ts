/** The server's store for one full buffer or batch, for tests that look for a pattern in it: both modes, three groups. */
import { FIELD, type Modulus, quantize, RING_32, ring } from '@basa/masking';
import { granted, type UserId } from '@basa/protocol';
import { inputElements, updateWords } from '@basa/protocol/internal/wire/input.ts';
import { type Environment, OneShotFederation, PaperFederation } from '@basa/simulator';
import { nodeEnvironment, seededWords } from '@basa/simulator/node';

const K = 3;
const DIMENSION = 1 << 16;

export interface UploadsOf {
  readonly environment?: Environment;
  readonly modulus?: Modulus;
  /** Updates that are the same number throughout, or random ones. */
  readonly isFixed?: boolean;
  readonly seed?: number;
}

export const MODES = [
  ['one-shot', oneShotUploads],
  ['paper', paperUploads],
] as const;
export const GROUPS: readonly Modulus[] = [RING_32, ring(20), FIELD];

export function userNumbered(n: number): UserId {
  return new Uint8Array(32).fill(n + 1) as UserId;
}

/** A level so large that updates use every bit of the group. */
function levelOf(modulus: Modulus): number {
  return modulus.kind === 'field' ? 2 ** 29 : 2 ** (modulus.bits - 3);
}

export function deltaOf(isFixed: boolean, number: number): Float32Array {
  const words = new Uint32Array(DIMENSION);
  seededWords(500 + number)(words);
  return Float32Array.from(words, (word) => (isFixed ? (number + 1) / 8 : word / 2 ** 31 - 1));
}

function oneShotUploads({ modulus = RING_32, isFixed = true, seed = 11, ...run }: UploadsOf): Uint32Array[] {
  const options = { bufferSize: K, dimension: DIMENSION, modulus, level: levelOf(modulus), seed };
  const world = new OneShotFederation(run.environment ?? nodeEnvironment, options);
  for (let n = 0; n < K; n++) {
    const device = world.shooter();
    // An update within a norm would leave the upper bits of the group alone, and hide nothing that is wrong with them.
    device.own.buildVector = (rules) => {
      const vector = new Uint32Array(inputElements(rules));
      vector[0] = 1;
      quantize(deltaOf(isFixed, n), rules, seededWords(n), 1, { into: updateWords(rules, vector).update });
      return { kind: 'input', vector, weight: 1, norm: 0 };
    };
    granted(device.contribute());
  }
  return [...world.shots.uploads.values()].map((shot) => world.shots.vector(shot));
}

function paperUploads({ modulus = RING_32, isFixed = true, seed = 11, ...run }: UploadsOf): Uint32Array[] {
  const options = { bufferSize: K, dimension: DIMENSION, modulus, level: levelOf(modulus), seed };
  const world = new PaperFederation(run.environment ?? nodeEnvironment, options);
  return Array.from({ length: K }, (_, k) => {
    const prepared = world.prepare(userNumbered(k), deltaOf(isFixed, k));
    granted(world.upload(userNumbered(k), prepared));
    return prepared.y;
  });
}
