/** A duration that may be charged: the median of many samples, with their spread; rejected if the spread is too large. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { cpuMs } from './cpu-time.ts';

setFlagsFromString('--expose-gc');
/** Garbage of earlier work must not be charged to this work. */
const collectGarbage = runInNewContext('gc') as () => void;

export interface Sampled {
  readonly ms: number;
  /** Interquartile range over median. */
  readonly spread: number;
}

export interface Sampling {
  readonly warmUps: number;
  readonly samples: number;
  /** A sample repeats short work until it takes about this long. */
  readonly minMs: number;
  /** The largest spread that is accepted, and the number of attempts. */
  readonly maxSpread: number;
  readonly tries: number;
  /** A price that spreads more in every attempt is kept, and marked in the report, instead of rejected. */
  readonly isNoisyKept?: boolean;
  /** Whole runs of a protocol of few users. */
  readonly runs: number;
  /** The number of times that operations of several seconds are measured, with everything else in between: the calmest counts. */
  readonly passes: number;
}

/** The interquartile range over median above which a price is rejected, or marked if it was kept anyway. */
export const MAX_SPREAD = 0.2;

export const CAREFUL: Sampling = {
  warmUps: 5,
  samples: 15,
  minMs: 12,
  maxSpread: MAX_SPREAD,
  tries: 6,
  runs: 7,
  passes: 2,
};

/** For a quick look; not for a table. */
export const HASTY: Sampling = {
  warmUps: 1,
  samples: 3,
  minMs: 1,
  maxSpread: Number.POSITIVE_INFINITY,
  tries: 1,
  runs: 1,
  passes: 1,
};

/** Work that takes longer is sampled less often: its own length averages. */
const LONG_MS = 150;
const FEW = 7;
const VERY_LONG_MS = 800;
const FEWEST = 3;

export class NoisyMachineError extends Error {
  constructor(what: string, { ms, spread }: Sampled, most: number) {
    super(
      `"${what}" took ${ms.toFixed(2)} ms, but the middle half of its samples spans ${(100 * spread).toFixed(0)} % of that, and a table ` +
        `takes at most ${(100 * most).toFixed(0)} %: the machine is busy. Stop other work on it and try again; or keep it ` +
        'with a mark (--noisy); or measure with --hasty, which is enough for a look; or give --costs the costs.json of an earlier run.',
    );
    this.name = 'NoisyMachineError';
  }
}

export function sample(what: string, work: () => void, options: Sampling): Sampled {
  const first = once(work, 1);
  const isLong = first > LONG_MS;
  for (let n = 0; n < (isLong ? 1 : options.warmUps); n++) work();
  const repeats = isLong ? 1 : Math.max(1, Math.ceil(options.minMs / Math.max(once(work, 1), 0.001)));
  const few = first > VERY_LONG_MS ? FEWEST : FEW;
  const samples = isLong ? Math.min(few, options.samples) : options.samples;
  let best: Sampled | undefined;
  for (let turn = 0; turn < options.tries; turn++) {
    const found = summary(
      Array.from({ length: samples }, () => {
        if (Number.isFinite(options.maxSpread)) collectGarbage(); // a quick look that accepts any spread does not wait for it
        return once(work, repeats);
      }),
    );
    if (best === undefined || found.spread < best.spread) best = found;
    if (best.spread <= options.maxSpread) return best;
  }
  if (options.isNoisyKept === true) return best as Sampled;
  throw new NoisyMachineError(what, best as Sampled, options.maxSpread);
}

/** A later pass: fewer samples, which count only if they are calmer. */
export function secondLook(sampling: Sampling): Sampling {
  const { warmUps, samples, runs } = sampling;
  return {
    ...sampling,
    warmUps: Math.min(2, warmUps),
    samples: Math.min(FEW, samples),
    runs: Math.min(3, runs),
    tries: 1,
    isNoisyKept: true,
  };
}

/**
 * From two measurements of the same work, takes for each cost the smaller value whose spread is acceptable. Other processes on the host can
 * slow down work evenly for seconds, which the spread does not show. Nothing can make it faster.
 */
export function calmer<Prices>(one: Prices, other: Prices): Prices {
  if (typeof one !== 'object' || one === null) return one;
  if ('ms' in one) return isCalmer(other as Partial<Sampled>, one as Partial<Sampled>) ? other : one;
  const entries = Object.entries(one).map(([name, price]) => [name, calmer(price, other[name as keyof Prices])]);
  return (Array.isArray(one) ? entries.map(([, price]) => price) : Object.fromEntries(entries)) as Prices;
}

function isCalmer({ ms = 0, spread = 0 }: Partial<Sampled>, than: Partial<Sampled>): boolean {
  return ms < (than.ms ?? 0) && spread <= Math.max(MAX_SPREAD, than.spread ?? 0);
}

function once(work: () => void, repeats: number): number {
  const began = cpuMs();
  for (let n = 0; n < repeats; n++) work();
  return (cpuMs() - began) / repeats;
}

export function summary(values: readonly number[]): Sampled {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  const ms = at(0.5);
  return { ms, spread: ms > 0 ? (at(0.75) - at(0.25)) / ms : 0 };
}
