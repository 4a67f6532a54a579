/** The cost of one batch by its size: run in full at 64 elements, with masks and hashes charged at the real dimension. */
import type { AggregationTools } from '@basa/baselines';
import { RING_32 } from '@basa/masking';
import { nodeTools } from '@basa/simulator/virtual-time';
import { priceOf } from './protocols/composed.ts';
import { type Contender, ONE_SHOTS, oneShot } from './protocols/contenders.ts';
import type { Amounts } from './protocols/cost.ts';
import { deviceHashes } from './protocols/device-hashes.ts';
import { vectorPrices } from './protocols/prices.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const DROPOUTS = 0.1;
const WARM_UP_USERS = 30;

/** The number of devices, and the dimension. */
interface BatchSize {
  readonly bufferSize: number;
  readonly dimension: number;
}

interface BatchCost extends Amounts, BatchSize {
  readonly protocol: string;
  /** The work until every upload is in the store and inspected. */
  readonly intake: Pick<Amounts, 'serverMs' | 'authorityMs'>;
  /** The work from the batch to its sum. */
  readonly close: Pick<Amounts, 'serverMs' | 'authorityMs'>;
}

const SIZES: readonly BatchSize[] = [
  { bufferSize: 1000, dimension: 1_000_000 },
  { bufferSize: 10_000, dimension: 7850 },
];
const QUICK_SIZES: readonly BatchSize[] = [{ bufferSize: 100, dimension: 1_000_000 }];

export async function benchBatches({ quick }: BenchOptions): Promise<BenchResult> {
  const tools = nodeTools();
  const [alone] = ONE_SHOTS;
  const sizes = quick ? QUICK_SIZES : SIZES;
  const hashed = await deviceHashes(sizes.map(({ dimension }) => dimension));
  const contender = oneShot(tools, alone, hashed);
  runOf(contender, WARM_UP_USERS);
  const batches = sizes.map((size) => costOf(tools, contender, size));
  return { text: textOf(batches), json: { batches } };
}

function runOf({ counted, ...charged }: Contender, users: number) {
  return priceOf(users, DROPOUTS, counted, charged);
}

function costOf(tools: AggregationTools, contender: Contender, size: BatchSize): BatchCost {
  const run = runOf(contender, size.bufferSize);
  if (run === undefined) throw new Error(`a batch of ${size.bufferSize} was not opened`);
  const { phases, ...cost } = run(size.dimension, vectorPrices(size.dimension, tools, RING_32));
  const [upload, close] = phases;
  if (upload === undefined || close === undefined) throw new Error('the one-shot mode has two phases');
  return { protocol: contender.name, ...size, ...cost, intake: upload, close };
}

function textOf(batches: readonly BatchCost[]): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(2);
  return [
    `One batch, one authority, ${100 * DROPOUTS} % of its devices never there; processor time of one thread.`,
    'The intake ends when every upload is in the store and inspected. The close lasts from the batch to its sum. Masked vectors are added during the intake.',
    '',
    formatTable(
      ['K', 'd', 'user ms', 'sends B', 'server intake s', 'close s', 'authority intake s', 'close s'],
      batches.map(({ bufferSize, dimension, userMs, bytesUp, intake, close }) => [
        bufferSize.toLocaleString('en'),
        dimension.toLocaleString('en'),
        userMs.toFixed(1),
        Math.round(bytesUp).toLocaleString('en'),
        seconds(intake.serverMs),
        seconds(close.serverMs),
        seconds(intake.authorityMs),
        seconds(close.authorityMs),
      ]),
    ),
  ].join('\n');
}
