/** Has a closed sum opened by the workers: the seeds behind its masks in shares of slots, then the mean in shards of the vector. */
import { encodeBufferRecord, type KeysOf, prefixElements, type SecureBuffer } from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import { bodyKey } from '../blobs/body-key.ts';
import { layoutOf } from '../buffers/messages.ts';
import type { Store } from '../store/store.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import { type Shard, shardsOf } from './shards.ts';
import { joinTerms, type PackedTerms, wipeTerms } from './work/packed-terms.ts';
import type {
  GoodPrefix,
  OpenedTerms,
  Quarantined,
  StoredBody,
  SummedShard,
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
  | { readonly kind: 'mean'; readonly prefix: GoodPrefix; readonly shards: AsyncIterable<Float32Array> }
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

/** The keys are used up by this. */
export async function openSumOf(
  tools: OpeningTools,
  buffer: SecureBuffer,
  keys: readonly KeysOf[],
): Promise<OpenedSum> {
  const { ctx, rules, accepted, slots } = buffer;
  const bodies = accepted.map((slot) => {
    const header = slots[slot]?.header;
    if (header === undefined) throw new Error(`slot ${slot} is accepted without a header`);
    return { slot, key: bodyKey(header, layoutOf({ buffer, header })) };
  });
  const opened = await openTermsOf(tools, buffer, bodies, keys);
  if (opened.kind === 'quarantine') return opened;
  return openShards(tools, { ctx, rules, keys: bodies.map(({ key }) => key), subtracted: [], terms: opened.terms });
}

/** The parts of a sum: bodies, and the masks to subtract. */
type ToOpen = Omit<SumShardTask, 'kind' | 'from' | 'to' | 'weightSum'>;

/** The terms are used up by this. */
export async function openShards({ pool, watch }: OpeningTools, sum: ToOpen): Promise<OpenedSum> {
  const { ctx, rules, terms } = sum;
  const [whole, ...later] = shardsOf(rules.dimension + prefixElements(rules), pool.size);
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
  return { kind: 'mean', prefix, shards: shardsInOrder(first, rest, pool.size, terms) };
}

/** As many in parallel as there are workers. */
async function* shardsInOrder(
  first: SummedShard,
  rest: readonly (() => Promise<SummedShard>)[],
  atOnce: number,
  terms: PackedTerms,
): AsyncGenerator<Float32Array> {
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
    wipeTerms(terms);
  }
}

/** A share of the slots for each worker: opening seeds is most of the work if many slots dropped. */
async function openTermsOf(
  { store, pool, watch }: OpeningTools,
  buffer: SecureBuffer,
  bodies: readonly StoredBody[],
  keys: readonly KeysOf[],
): Promise<OpenedTerms> {
  const { ctx, descriptor, slotKeys } = buffer;
  const facts = await store.facts(ctx, 0);
  const deposits = await store.deposits(ctx);
  const accepted = new Set<number>(buffer.accepted);
  const whole = {
    kind: 'open-terms',
    drawn: { descriptor, slotKeys },
    facts: facts.map(encodeBufferRecord),
    keys,
  } as const;
  const shares = Array.from({ length: Math.min(pool.size, bodies.length) }, (_, share) =>
    bodies.filter((_body, n) => n % pool.size === share),
  );
  try {
    const openShare = (share: readonly StoredBody[]): Promise<WorkResult> => {
      const own = new Set<number>(share.map(({ slot }) => slot));
      const needed = deposits.map((deposit, slot) => (own.has(slot) || !accepted.has(slot) ? deposit : undefined));
      return watch.traces.step('open-terms', { ctx }, () => pool.run({ ...whole, deposits: needed, bodies: share }));
    };
    const opened = await Promise.all(shares.map(openShare));
    return togetherOf(opened as readonly OpenedTerms[]);
  } finally {
    for (const { key } of keys.flatMap((one) => one.keys)) key.fill(0);
  }
}

function togetherOf(opened: readonly OpenedTerms[]): OpenedTerms {
  const terms = joinTerms(opened.flatMap((share) => (share.kind === 'terms' ? [share.terms] : [])));
  const refused = opened.filter((share) => share.kind === 'quarantine');
  // A known cheat explains the sum.
  const one = refused.find(({ isUnsure }) => isUnsure !== true) ?? refused[0];
  if (one === undefined) return { kind: 'terms', terms };
  wipeTerms(terms);
  const slots = refused.flatMap((share) => share.slots).sort((a, b) => a - b);
  return { ...one, slots };
}
