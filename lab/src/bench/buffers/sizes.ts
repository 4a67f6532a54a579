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

/** The parts of a party's time, as shares of one. */
interface Parts {
  /** Expanding masks. */
  readonly masks: number;
  /** Hashing, packing and adding whole vectors. */
  readonly vectors: number;
  /** Work that does not grow with the dimension: seeds sealed and opened, signatures, messages. */
  readonly seeds: number;
}

export interface SizeCost extends Amounts {
  readonly bufferSize: number;
  readonly dimension: number;
  readonly user: Parts;
  readonly server: Parts;
}

const NO_VECTORS = { expansionMs: 0, packMs: 0, addMs: 0, hashMs: 0 };

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
      const [unmasked, seeds] = [run(dimension, { ...vector, expansionMs: 0 }), run(dimension, NO_VECTORS)];
      const partsOf = (ms: 'userMs' | 'serverMs'): Parts => ({
        masks: 1 - unmasked[ms] / cost[ms],
        vectors: (unmasked[ms] - seeds[ms]) / cost[ms],
        seeds: seeds[ms] / cost[ms],
      });
      return { bufferSize, dimension, ...cost, user: partsOf('userMs'), server: partsOf('serverMs') };
    });
  });
}

export function sizesText(sizes: readonly SizeCost[]): string {
  const percent = (part: number): string => `${Math.round(100 * part)} %`;
  const largest = (parts: Parts): string => {
    const [name = '', part = 0] = Object.entries(parts).reduce((most, next) => (next[1] > most[1] ? next : most));
    return `${name} ${percent(part)}`;
  };
  return [
    `One buffer with slot keys. ${percent(DROPOUTS)} of its slots are dropped after their keys are issued. Times are processor time of one thread.`,
    'The user columns are medians over the users in the sum. Everything except vectors is measured in a complete run with 64',
    'elements, whose sum is checked. Mask expansions and hashes of vectors are counted and charged at their cost for d. The largest',
    'part is masks, vectors (hashed, packed, added) or seeds (sealed and opened, with signatures and messages).',
    '',
    formatTable(
      ['K', 'd', 'user ms', 'largest part', 'sends B', 'receives B', 'server ms', 'largest part', 'authority ms'],
      sizes.map((one) => [
        String(one.bufferSize),
        one.dimension.toLocaleString('en'),
        one.userMs.toFixed(1),
        largest(one.user),
        Math.round(one.bytesUp).toLocaleString('en'),
        Math.round(one.bytesDown).toLocaleString('en'),
        one.serverMs.toFixed(1),
        largest(one.server),
        one.authorityMs.toFixed(1),
      ]),
    ),
  ].join('\n');
}
