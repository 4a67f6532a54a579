/**
 * Makes versions of the sums that are opened: they wait until there are enough of them, then one step is taken, which is durable
 * with the names of all of them, and all of them end. After an interruption it continues from the store.
 *
 *     opened, opened, ... --step--> version --> included, or quarantined as spoilt
 */
import { combineMeans, DEFAULT_DAMPING, type WeighedMean } from '@basa/learning';
import {
  type Ctx,
  granted,
  type NextVersion,
  nextVersion,
  recordIncluded,
  recordQuarantine,
  type ShotBatch,
  type TaskId,
  type VersionSum,
  versionRule,
} from '@basa/protocol';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { Counts, Making, ModelKeeper } from '../closing/model-keeper.ts';
import { meansOf } from '../closing/opening.ts';
import type { ShotGatherer } from '../shots/shot-gatherer.ts';
import type { ReadTask } from '../specification/task-specification.ts';
import type { WaitingSum } from '../store/batches.ts';
import type { StoredModel, SumsOfVersion } from '../store/models.ts';
import type { Fence } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import type { ServerWatch } from '../watch/server-watch.ts';

export interface VersionMakerOptions {
  readonly task: TaskId;
  readonly read: Pick<ReadTask, 'policy' | 'serverStep'>;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly gatherer: ShotGatherer;
  readonly models: ModelKeeper;
  readonly watch: ServerWatch;
  onIncluded(): Promise<void>;
}

/** A sum that waits, with its state. */
type Member = VersionSum & { readonly waiting: WaitingSum; readonly sum: ShotBatch };
type GoodMember = Member & { readonly waiting: Extract<WaitingSum, { readonly kind: 'mean' }> };

export class VersionMaker {
  readonly #options: VersionMakerOptions;

  constructor(options: VersionMakerOptions) {
    this.#options = options;
  }

  /** Processes the waiting sums as far as possible. Returns the sums that have ended. */
  async advance(fence: Fence | undefined): Promise<readonly Ctx[]> {
    const members = await this.#members();
    // A version that a crash left is finished first, because versions follow each other.
    const begun = members.find(({ waiting }) => waiting.version !== undefined)?.waiting.version;
    if (begun !== undefined)
      return this.#end(
        begun,
        members.filter(({ waiting }) => waiting.version === begun),
        fence,
      );
    const next = await this.#next(members);
    if (next === undefined) return [];
    // Spoilt sums alone change nothing. If all updates on a model are lost, it is repeated (`closing/repeats.ts`).
    const version = next.sums.length === 0 ? undefined : (await this.#made(next, fence)).version;
    return this.#end(version, [...next.sums, ...next.spoilt], fence);
  }

  async #members(): Promise<readonly Member[]> {
    const { store, task, gatherer } = this.#options;
    const waiting = await store.openedSums(task);
    const sums = await Promise.all(waiting.map(({ ctx }) => gatherer.keeper.find(ctx)));
    return waiting.flatMap((one, n) => {
      const sum = sums[n];
      return sum === undefined
        ? []
        : [{ ctx: one.ctx, isSpoilt: one.kind === 'spoilt', updates: sum.users.length, waiting: one, sum }];
    });
  }

  async #next(members: readonly Member[]): Promise<NextVersion<Member> | undefined> {
    const { gatherer, read } = this.#options;
    const rule = versionRule(read.policy);
    const times = members.map(({ waiting }) => waiting.at);
    const isLast =
      members.length > 0 && (await gatherer.isLast({ firstAt: Math.min(...times), lastAt: Math.max(...times) }));
    return nextVersion(rule, members, isLast);
  }

  #made(next: NextVersion<Member>, fence: Fence | undefined): Promise<StoredModel> {
    const { models, watch } = this.#options;
    const named = namedOf([...next.sums, ...next.spoilt]);
    const counts = this.#countsOf(next);
    const good = next.sums.filter((member): member is GoodMember => member.waiting.kind === 'mean');
    return watch.traces.step('model-step', { ctx: named.sums[0] as Ctx }, () =>
      models.make(named, async (version) => this.#makingAt(version, good, counts), fence),
    );
  }

  #countsOf({ sums, spoilt }: NextVersion<Member>): Counts {
    const counted = ({ sum }: Member): Counts => this.#options.gatherer.countsOf(sum);
    const lost = spoilt.map(counted).map(({ accepted, dropped }) => accepted + dropped);
    const good = sums.map(counted);
    return {
      accepted: total(good.map(({ accepted }) => accepted)),
      dropped: total([...good.map(({ dropped }) => dropped), ...lost]),
    };
  }

  /** Each sum counts by its age at this very step. */
  #makingAt(version: number, good: readonly GoodMember[], counts: Counts): Making {
    const { gatherer } = this.#options;
    const weighed = good.map(({ sum, waiting }) => ({
      weight: waiting.weightSum,
      age: gatherer.ageAt(sum, version),
      updates: gatherer.countsOf(sum).accepted,
      metrics: waiting.metrics,
    }));
    const meanOf = (values: readonly number[]): number =>
      total(values.map((value, n) => value * (weighed[n]?.updates ?? 0))) / counts.accepted;
    const names = Object.keys(weighed[0]?.metrics ?? {});
    return {
      mean: this.#means(good, weighed),
      counts,
      meanAge: meanOf(weighed.map(({ age }) => age)),
      metrics: Object.fromEntries(
        names.map((name) => [name, meanOf(weighed.map(({ metrics }) => metrics[name] ?? 0))]),
      ),
    };
  }

  async *#means(
    good: readonly GoodMember[],
    weighed: readonly Omit<WeighedMean, 'mean'>[],
  ): AsyncGenerator<Float32Array | Float64Array> {
    const { blobs, read } = this.#options;
    const { combine } = versionRule(read.policy);
    const { damping = DEFAULT_DAMPING } = read.serverStep;
    const names = good.map(({ ctx }) => ctx);
    for await (const parts of meansOf(blobs, names, read.policy.dimension)) {
      const means = weighed.map(({ weight, age }, n) => ({ mean: parts[n] as Float32Array, weight, age }));
      yield combineMeans(means, { combine, damping });
    }
  }

  async #end(
    version: number | undefined,
    members: readonly Member[],
    fence: Fence | undefined,
  ): Promise<readonly Ctx[]> {
    const { models, onIncluded } = this.#options;
    for (const member of members) await this.#endOne(member, version, fence);
    await models.refresh();
    await onIncluded();
    return members.map(({ ctx }) => ctx);
  }

  /** `version` is missing if all of them are spoilt. */
  async #endOne({ ctx, waiting }: Member, version: number | undefined, fence: Fence | undefined): Promise<void> {
    const { keeper } = this.#options.gatherer;
    if (waiting.kind === 'spoilt') {
      granted(await keeper.step(ctx, (found) => recordQuarantine(found, waiting.why, []), { fence }));
      return;
    }
    granted(await keeper.step(ctx, (found) => recordIncluded(found, version as number), { fence }));
  }
}

function namedOf(members: readonly VersionSum[]): SumsOfVersion {
  const names = (isSpoilt: boolean) => members.filter((one) => one.isSpoilt === isSpoilt).map(({ ctx }) => ctx);
  return { sums: names(false), spoilt: names(true) };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
