/** Has a sum opened by the workers: its mean in shards of the vector. */
import { inputElements } from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import type { Store } from '../store/store.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import { type Shard, shardsOf } from './shards.ts';
import type {
  GoodPrefix,
  Quarantined,
  SummedShard,
  SummedWords,
  SumShardTask,
  WorkResult,
  WorkTask,
} from './work/tasks.ts';

export interface OpeningTools {
  readonly store: Store;
  readonly pool: WorkerPool<WorkTask, WorkResult>;
  readonly watch: ServerWatch;
}

/** Of a closed sum that nobody can open any more. Its devices did nothing wrong. */
export const UNOPENED = 'too few authorities can still open the sum';

/** The mean in shards, one after the other; requesting the next one may throw `SumRefused`. */
export type OpenedSum =
  | { readonly kind: 'mean'; readonly prefix: GoodPrefix; readonly shards: AsyncIterable<SummedWords> }
  | Quarantined;

/** A later shard is wrong: nothing of the sum may be used. */
export class SumRefused extends Error {
  readonly quarantined: Quarantined;

  constructor(quarantined: Quarantined) {
    super(quarantined.why);
    this.name = 'SumRefused';
    this.quarantined = quarantined;
  }
}

/** The parts of a sum: bodies, and the masks to subtract. */
type ToOpen = Omit<SumShardTask, 'kind' | 'from' | 'to' | 'weightSum'>;

export async function openShards({ pool, watch }: OpeningTools, sum: ToOpen): Promise<OpenedSum> {
  const { ctx, rules } = sum;
  const [whole, ...later] = shardsOf(inputElements(rules), pool.size);
  if (whole === undefined) throw new Error('a sum without elements');
  const sumOf = async ({ from, to }: Shard, weightSum?: number): Promise<SummedShard> => {
    const known = weightSum === undefined ? {} : { weightSum };
    const work = { kind: 'sum-shard', ...sum, from, to, ...known } as const;
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
