/** Small sums that are run with nothing left out, beside what composing them says. */
import type { AggregationTools } from '@basa/baselines';
import { lightSecAgg, publishedCode } from '@basa/baselines';
import { costOf, priceOf } from './composed.ts';
import type { Contender } from './contenders.ts';
import type { Cost } from './cost.ts';
import { lightSecAggCost } from './lightsecagg.ts';
import { runOnce } from './one-run.ts';
import type { VectorPrices } from './prices.ts';

/** Where composed and run differ by more, do not use the table. */
export const AGREEMENT = 1.5;

/** Times below it are noise. */
const LEAST_MS = 5;

/** The composed time divided by that of a real run; undefined where the party has next to nothing to do. */
export interface Check {
  readonly protocol: string;
  readonly user: number | undefined;
  readonly server: number | undefined;
  readonly authority: number | undefined;
}

export const CHECKED = { users: 10, dropouts: 0.3, dimension: 100_000 };

export function checkComposition(
  contenders: readonly Contender[],
  prices: VectorPrices,
  tools: AggregationTools,
): readonly Check[] {
  const { users, dropouts, dimension } = CHECKED;
  const present = users - Math.floor(users * dropouts);
  const summed = { summed: present, present, isWeighted: false };
  const light = lightSecAggCost(publishedCode(users), dimension, summed, tools, prices.addMs);
  return [
    ...contenders.map(({ name, real, counted, sealingMs }) =>
      compare(name, priceOf(users, dropouts, counted, sealingMs)?.(dimension, prices), runOnce(CHECKED, real)),
    ),
    compare(
      'LightSecAgg U=0.7N',
      light,
      runOnce(CHECKED, () => lightSecAgg(tools, publishedCode)),
    ),
  ];
}

function compare(protocol: string, composed: Cost | undefined, run: ReturnType<typeof runOnce>): Check {
  if (composed === undefined || run === undefined) throw new Error(`${protocol} refuses the sum of the check`);
  const real = costOf(run, { callMs: {}, userUploadMs: 0, serverUploadMs: 0, uploadBytes: 0 });
  const ratio = (what: 'userMs' | 'serverMs' | 'authorityMs'): number | undefined =>
    real[what] < LEAST_MS ? undefined : Math.round((100 * composed[what]) / real[what]) / 100;
  for (const what of ['bytesUp', 'bytesDown'] as const) {
    if (composed[what] !== real[what]) {
      throw new Error(`${protocol} sends ${real[what]} and not ${composed[what]} (${what})`);
    }
  }
  return { protocol, user: ratio('userMs'), server: ratio('serverMs'), authority: ratio('authorityMs') };
}

export function isWithin(ratio: number | undefined): boolean {
  return ratio === undefined || (ratio <= AGREEMENT && ratio >= 1 / AGREEMENT);
}
