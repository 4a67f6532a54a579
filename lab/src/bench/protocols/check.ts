/** Runs small sums completely, and compares them with their composed cost. */
import { type AggregationProtocol, type AggregationTools, lightSecAgg, publishedCode } from '@basa/baselines';
import { type Charges, costOf, priceOf } from './composed.ts';
import type { Contender } from './contenders.ts';
import type { Amounts, Cost } from './cost.ts';
import { lightSecAggCost } from './lightsecagg.ts';
import { runOnce } from './one-run.ts';
import type { VectorPrices } from './prices.ts';

/** If composed and measured cost differ by more than this factor, do not use the table. */
export const AGREEMENT = 1.5;

/** Times below it are noise. */
const MIN_MS = 5;

/** Each side is the minimum of this many runs: noise only ever adds. */
const RUNS = 3;

/** The composed time divided by that of a real run; undefined if the party has next to nothing to do. */
export interface Check {
  readonly protocol: string;
  readonly user: number | undefined;
  readonly server: number | undefined;
  readonly authority: number | undefined;
}

const LIGHT = 'LightSecAgg U=0.7N';

export const CHECKED = { users: 10, dropouts: 0.3, dimension: 100_000 };

export function checkComposition(
  contenders: readonly Contender[],
  prices: VectorPrices,
  tools: AggregationTools,
): readonly Check[] {
  const { users, dropouts, dimension } = CHECKED;
  const present = users - Math.floor(users * dropouts);
  const summed = { summed: present, present, isWeighted: false };
  return [
    ...contenders.map(({ name, real, counted, ...charged }) =>
      compare(
        name,
        minOf(name, () => priceOf(users, dropouts, counted, charged)?.(dimension, prices)),
        minOf(name, () => realCost(real)),
      ),
    ),
    compare(
      LIGHT,
      minOf(LIGHT, () => lightSecAggCost(publishedCode(users), dimension, summed, tools, prices.addMs)),
      minOf(LIGHT, () => realCost(() => lightSecAgg(tools, publishedCode))),
    ),
  ];
}

const NOTHING_CHARGED: Charges = {
  callMs: {},
  userUploadMs: 0,
  serverUploadMs: 0,
  serverCloseMs: 0,
  authorityCloseMs: 0,
  uploadBytes: 0,
};

function realCost(make: () => AggregationProtocol): Cost | undefined {
  const run = runOnce(CHECKED, make);
  return run && costOf(run, NOTHING_CHARGED);
}

function minOf(protocol: string, measure: () => Cost | undefined): Amounts {
  const costs = Array.from({ length: RUNS }, measure).filter((cost) => cost !== undefined);
  if (costs.length < RUNS) throw new Error(`${protocol} refuses the sum of the check`);
  const least = (what: keyof Amounts): number => Math.min(...costs.map((cost) => cost[what]));
  return {
    userMs: least('userMs'),
    serverMs: least('serverMs'),
    authorityMs: least('authorityMs'),
    bytesUp: least('bytesUp'),
    bytesDown: least('bytesDown'),
  };
}

function compare(protocol: string, composed: Amounts, real: Amounts): Check {
  const ratio = (what: 'userMs' | 'serverMs' | 'authorityMs'): number | undefined =>
    real[what] < MIN_MS ? undefined : Math.round((100 * composed[what]) / real[what]) / 100;
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
