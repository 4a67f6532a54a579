/**
 * The discrete Gaussian: our draws and the published ones of libprio-rs, each against the exact probabilities. The published draws are only a
 * second reference for the distribution, because their sampler spends its randomness in another order.
 */
import { addNoiseInPlace, ascii, noiseTable, RING_32, toSigned } from '@basa/masking';
import { type Counted, type OutsideSuite, type Platform, Tally } from './suite.ts';

const DEVIATIONS = [3, 9, 100];
const DRAWS = 200_000;
/** Outcomes that are expected less often than this share a bin. */
const LEAST_EXPECTED = 5;
/** In standard deviations of a normal variable: a true sampler is beyond it once in ten million files. */
const LIMIT = 5.2;

export const GAUSSIAN: OutsideSuite = {
  files: DEVIATIONS.map((deviation) => `dp/libprio-discrete-gauss-${deviation}.json`),
  async run(texts, platform): Promise<Counted> {
    const tally = new Tally();
    for (const [n, deviation] of DEVIATIONS.entries()) {
      const { samples } = JSON.parse(texts[n] ?? '') as { readonly samples: readonly number[] };
      const own = await drawsOf(deviation, platform);
      await tally.check(`our draws with deviation ${deviation}`, () => Math.abs(surprise(own, deviation)) < LIMIT);
      await tally.check(
        `published draws with deviation ${deviation}`,
        () => Math.abs(surprise(samples, deviation)) < LIMIT,
      );
    }
    return tally.counted;
  },
};

export async function drawsOf(deviation: number, { suite, keystream }: Platform): Promise<readonly number[]> {
  const vector = new Uint32Array(DRAWS);
  const okm = suite.hkdf({ secret: ascii('draws'), salt: new Uint8Array(), info: ascii(`${deviation}`), length: 32 });
  const stream = { key: okm.subarray(0, 16), counter: okm.subarray(16) };
  const words = new Uint32Array(
    (await keystream({ stream, firstByte: 0, counter: stream.counter, bytes: 16 * DRAWS })).slice().buffer,
  );
  let used = 0;
  addNoiseInPlace(vector, noiseTable(deviation ** 2), RING_32, (target) => {
    target.set(words.subarray(used, used + target.length));
    used += target.length;
  });
  return Array.from(vector, (residue) => toSigned(residue, RING_32));
}

/** Pearson's statistic as a normal variable (Wilson and Hilferty 1931). */
export function surprise(draws: readonly number[], deviation: number): number {
  const bins = binsOf(deviation, draws.length);
  const counts = bins.map(({ from, to }) => draws.filter((draw) => draw >= from && draw <= to).length);
  const statistic = bins.reduce((sum, { expected }, n) => sum + ((counts[n] as number) - expected) ** 2 / expected, 0);
  const degrees = bins.length - 1;
  const part = 2 / (9 * degrees);
  return (Math.cbrt(statistic / degrees) - (1 - part)) / Math.sqrt(part);
}

interface Bin {
  readonly from: number;
  readonly to: number;
  readonly expected: number;
}

/** Neighbouring outcomes from the left, each bin expected often enough; the last one takes the rest. */
function binsOf(deviation: number, count: number): readonly Bin[] {
  const far = Math.ceil(12 * deviation);
  const outcomes = Array.from({ length: 2 * far + 1 }, (_, n) => n - far);
  const weights = outcomes.map((k) => Math.exp(-(k * k) / (2 * deviation * deviation)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const bins: Bin[] = [];
  let [from, expected] = [Number.NEGATIVE_INFINITY, 0];
  for (const [n, k] of outcomes.entries()) {
    expected += (count * (weights[n] as number)) / total;
    if (expected < LEAST_EXPECTED) continue;
    bins.push({ from, to: k, expected });
    [from, expected] = [k + 1, 0];
  }
  const last = bins.pop() as Bin;
  return [...bins, { from: last.from, to: Number.POSITIVE_INFINITY, expected: last.expected + expected }];
}
