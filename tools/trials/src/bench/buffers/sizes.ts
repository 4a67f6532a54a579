/** The cost of one buffer by its size: run in full at 64 elements, with masks and hashes charged at the real dimension. */
import type { AggregationTools } from '@basa/baselines';
import { RING_32 } from '@basa/masking';
import { priceOf } from '../protocols/composed.ts';
import { countedSlotKeys, SEALED_HASHES } from '../protocols/contenders.ts';
import type { Amounts } from '../protocols/cost.ts';
import { vectorPrices } from '../protocols/prices.ts';
import { formatTable } from '../table.ts';

const DROPOUTS = 0.1;
const DIMENSIONS = [7850, 1_000_000];
const WARM_UP_SLOTS = 30;

export interface SizeCost extends Amounts {
  readonly bufferSize: number;
  readonly dimension: number;
  /** The part of a user's and of the server's time that is expanding masks. */
  readonly userMasks: number;
  readonly serverMasks: number;
}

export function costsOfSizes(sizes: readonly number[], tools: AggregationTools): readonly SizeCost[] {
  const prices = DIMENSIONS.map((dimension) => ({ dimension, vector: vectorPrices(dimension, tools, RING_32) }));
  const runOf = (slots: number) =>
    priceOf(slots, DROPOUTS, (meter) => countedSlotKeys(tools, meter), { hashes: SEALED_HASHES });
  runOf(WARM_UP_SLOTS);
  return sizes.flatMap((bufferSize) => {
    const run = runOf(bufferSize);
    if (run === undefined) throw new Error(`a buffer of ${bufferSize} was not opened`);
    return prices.map(({ dimension, vector }): SizeCost => {
      const { phases: _, ...cost } = run(dimension, vector);
      const unmasked = run(dimension, { ...vector, expansionMs: 0 });
      return {
        bufferSize,
        dimension,
        ...cost,
        userMasks: 1 - unmasked.userMs / cost.userMs,
        serverMasks: 1 - unmasked.serverMs / cost.serverMs,
      };
    });
  });
}

export function sizesText(sizes: readonly SizeCost[]): string {
  const percent = (part: number): string => `${Math.round(100 * part)} %`;
  return [
    `One buffer with slot keys, ${percent(DROPOUTS)} of its slots dropped after their keys are out; processor time of one thread.`,
    'A user is the median of those in the sum. Everything but vectors is timed in a run in full at 64 elements, whose sum is',
    'checked; mask expansions and hashes of vectors are counted and charged at the price of d. What is no mask is sealing and',
    'opening seeds, signatures and hashes.',
    '',
    formatTable(
      ['K', 'd', 'user ms', 'masks', 'user sends B', 'receives B', 'server ms', 'masks', 'authority ms'],
      sizes.map((one) => [
        String(one.bufferSize),
        one.dimension.toLocaleString('en'),
        one.userMs.toFixed(1),
        percent(one.userMasks),
        Math.round(one.bytesUp).toLocaleString('en'),
        Math.round(one.bytesDown).toLocaleString('en'),
        one.serverMs.toFixed(1),
        percent(one.serverMasks),
        one.authorityMs.toFixed(1),
      ]),
    ),
  ].join('\n');
}
