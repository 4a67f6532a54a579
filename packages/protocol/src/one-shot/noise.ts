/**
 * The noise of a task with a single authority, which adds it: an exact discrete Gaussian for every coordinate of the sum and every metric. The seed
 * is derived from the secrets of all epochs that the batch names and from the batch, so the noise is the same for every request. It cannot be computed again after
 * one of the secrets is destroyed.
 */
import {
  addNoiseInPlace,
  applyMasksInPlace,
  ascii,
  concatBytes,
  type Keystream,
  type MaskTools,
  noiseTable,
  type RandomWords,
  RING_32,
  SEED_BYTES,
  Secret,
  type Suite,
} from '@basa/masking';
import type { Ctx } from '../wire/brands.ts';
import { addMetricNoise, updateWords } from '../wire/input-words.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { taskNoise } from '../wire/privacy.ts';

const NOISE = ascii('noise');

interface NoisePorts {
  readonly suite: Suite;
  readonly tools: MaskTools<Keystream>;
}

/** `secrets` are those of all epochs that the batch names, by ascending statement. Does nothing if the devices add the noise, or if the task has no noise. */
export function addAuthorityNoise(
  sum: Uint32Array,
  { suite, tools }: NoisePorts,
  policy: TaskPolicy,
  secrets: readonly Uint8Array[],
  ctx: Ctx,
): void {
  const noise = taskNoise(policy);
  if (noise === undefined || !noise.isCentral) return;
  const secret = concatBytes(...secrets);
  const seed = new Secret(suite.hkdf({ secret, salt: ctx, info: NOISE, length: SEED_BYTES }));
  secret.fill(0);
  const words = wordsOf({ suite, tools }, seed, ctx);
  addNoiseInPlace(updateWords(policy, sum).update, noiseTable(noise.variance), policy.modulus, words);
  addMetricNoise(policy, sum, words);
  seed.wipe();
}

/** The words of the PRG, one stretch after the other. */
function wordsOf({ suite, tools }: NoisePorts, seed: Secret, salt: Uint8Array): RandomWords {
  let firstWord = 0;
  return (words) => {
    words.fill(0);
    applyMasksInPlace(words, { modulus: RING_32, salt, terms: [{ seed, sign: 1 }], firstWord }, { ...tools, suite });
    firstWord += 16 * Math.ceil(words.length / 16);
  };
}
