/** Has a sum opened by the workers, its mean in shards of the vector, and keeps the mean until it is in a version. */

import { toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import type { Sums } from '@basa/protocol/one-shot';
import { InputWords } from '@basa/protocol/wire';
import { createWorkerPool, nodeRandomBytes, type WorkerPool, workerModule } from '@basa/runtime/node';
import { type BlobStore, bodiesOf, collect } from '../blobs/blob-store.ts';
import type { OpenedRow } from '../store/batches.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import { bytesOfWords, doublesOf, floatsOf, MAX_SHARD_ELEMENTS, type Shard, shardsOf } from './model-keeper.ts';
import type {
  GoodPrefix,
  Quarantined,
  SummedShard,
  SummedWords,
  SumShardTask,
  WorkerOptions,
  WorkResult,
  WorkTask,
} from './work/sum-shard.ts';

/** Of a closed sum that nobody can open any more. Its devices did nothing wrong. */
export const UNOPENED = 'too few authorities can still open the sum';

/** The mean in shards, one after the other; requesting the next one may throw `SumRefused`. */
export type OpenedSum =
  | { readonly kind: 'mean'; readonly prefix: GoodPrefix; readonly shards: AsyncIterable<SummedWords> }
  | Quarantined;

/** A later shard is wrong: nothing of the sum may be used. */
class SumRefused extends Error {
  readonly quarantined: Quarantined;

  constructor(quarantined: Quarantined) {
    super(quarantined.why);
    this.name = 'SumRefused';
    this.quarantined = quarantined;
  }
}

/** The parts of a sum: bodies, and the masks to subtract. */
type ToOpen = Omit<SumShardTask, 'kind' | 'from' | 'to' | 'weightSum'>;

export async function openShards(
  { pool, watch }: { readonly pool: WorkerPool<WorkTask, WorkResult>; readonly watch: ServerWatch },
  sum: ToOpen,
): Promise<OpenedSum> {
  const { ctx, rules } = sum;
  const [whole, ...later] = shardsOf(InputWords.inputElements(rules), pool.size);
  if (whole === undefined) throw new Error('a sum without elements');
  const sumOf = async ({ from, to }: Shard, weightSum?: number): Promise<SummedShard> => {
    const work = { kind: 'sum-shard', ...sum, from, to, weightSum } as const;
    const attributes = { 'basa.from': from, 'basa.to': to };
    return watch.traces.step('sum-shard', { ctx, attributes }, async () => (await pool.run(work)) as SummedShard);
  };
  const first = await sumOf(whole);
  if (first.kind === 'quarantine') return first;
  const { prefix } = first;
  if (prefix === undefined) throw new Error('the first shard of a sum came without its prefix');
  const rest = later.map((shard) => () => sumOf(shard, prefix.weightSum));
  return { kind: 'mean', prefix, shards: shardsInOrder(first, rest, pool.size) };
}

/** As many in parallel as there are workers. */
async function* shardsInOrder(
  first: SummedShard,
  rest: readonly (() => Promise<SummedShard>)[],
  atOnce: number,
): AsyncGenerator<SummedWords> {
  const coming: Promise<SummedShard>[] = [Promise.resolve(first)];
  try {
    for (let next = 0; coming.length > 0; ) {
      for (; coming.length <= atOnce && next < rest.length; next++)
        coming.push((rest[next] as (typeof rest)[number])());
      const shard = (await coming.shift()) as SummedShard;
      if (shard.kind === 'quarantine') throw new SumRefused(shard);
      yield shard.mean;
    }
  } finally {
    await Promise.allSettled(coming);
  }
}

/** It is removed with everything else of its sum when the sum has ended. */
function meanKey(ctx: Ctx): string {
  return `${bodiesOf(ctx)}/mean`;
}

/** Stores the mean durably, and returns the row that the recording step writes afterwards. */
export async function storeOpened(
  blobs: BlobStore,
  { ctx, task }: Pick<Sums.SumState, 'ctx' | 'task'>,
  opened: OpenedSum,
): Promise<OpenedRow> {
  if (opened.kind === 'quarantine') return spoiltRow(task, opened);
  try {
    await storeMean(blobs, ctx, opened.shards);
  } catch (error) {
    if (error instanceof SumRefused) return spoiltRow(task, error.quarantined);
    throw error;
  }
  const { weightSum, metrics } = opened.prefix;
  return { kind: 'mean', task, weightSum, metrics };
}

function spoiltRow(task: OpenedRow['task'], { why }: Extract<OpenedSum, { kind: 'quarantine' }>): OpenedRow {
  return { kind: 'spoilt', task, why };
}

async function storeMean(
  blobs: BlobStore,
  ctx: Ctx,
  shards: AsyncIterable<Float32Array | Float64Array>,
): Promise<void> {
  const staging = await blobs.stage(meanKey(ctx), toHex(nodeRandomBytes(8)));
  try {
    for await (const shard of shards) await staging.append(bytesOfWords(shard));
    await staging.commit();
  } catch (error) {
    await staging.discard();
    throw error;
  } finally {
    await staging.close();
  }
}

/** The words of the sum of a statistics task, exactly. */
export async function statisticsSums(blobs: BlobStore, ctx: Ctx, dimension: number): Promise<Float64Array> {
  return doublesOf(await collect(blobs.read(meanKey(ctx), 0, 8 * dimension), 8 * dimension));
}

/** Yields the same part of the means of all these sums, one part after the other. */
export async function* meansOf(
  blobs: BlobStore,
  sums: readonly Ctx[],
  dimension: number,
): AsyncGenerator<readonly Float32Array[]> {
  const step = Math.max(1, Math.floor(MAX_SHARD_ELEMENTS / Math.max(1, sums.length)));
  for (let at = 0; at < dimension; at += step) {
    const end = Math.min(dimension, at + step);
    const read = (ctx: Ctx): Promise<Uint8Array> => collect(blobs.read(meanKey(ctx), 4 * at, 4 * end), 4 * (end - at));
    yield (await Promise.all(sums.map(read))).map(floatsOf);
  }
}

/** The threads that open sums and evaluate models. */
export function startWorkers(size: number, workerData: WorkerOptions): WorkerPool<WorkTask, WorkResult> {
  return createWorkerPool<WorkTask, WorkResult>({
    ...workerModule(import.meta.url, './work/worker'),
    size,
    workerData,
    isLazy: true, // a server that starts again must answer soon, and its first sum may be hours away
  });
}
