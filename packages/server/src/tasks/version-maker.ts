/**
 * Makes versions of the sums that are opened: they wait until there are enough of them, then one step is taken, which is durable
 * with the names of all of them, and all of them end. After an interruption it continues from the store.
 *
 *     opened, opened, ... --step--> version --> included, or quarantined as spoilt
 */
import { combineMeans, DEFAULT_DAMPING, type WeighedMean } from '@basa/learning';
import { type Ctx, granted } from '@basa/protocol';
import { Sums } from '@basa/protocol/one-shot';
import type { Counts, Making } from '../closing/model-keeper.ts';
import { meansOf } from '../closing/opening.ts';
import { isStalled } from '../shots/batcher.ts';
import type { ShotContext } from '../shots/inspector.ts';
import type { WaitingSum } from '../store/batches.ts';
import type { StoredModel, SumsOfVersion } from '../store/models.ts';
import type { Fence } from '../store/sql.ts';
import type { Versions } from './closer.ts';

/** A sum that waits, with its state. */
type Member = Sums.VersionSum & { readonly waiting: WaitingSum; readonly sum: Sums.ShotBatch };
type GoodMember = Member & { readonly waiting: Extract<WaitingSum, { readonly kind: 'mean' }> };

export class VersionMaker implements Versions {
  readonly #context: ShotContext;

  constructor(context: ShotContext) {
    this.#context = context;
  }

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
    // Spoilt sums alone change nothing. If all updates on a model are lost, it is repeated (`Repeats`).
    const version = next.sums.length === 0 ? undefined : (await this.#made(next, fence)).version;
    return this.#end(version, [...next.sums, ...next.spoilt], fence);
  }

  async #members(): Promise<readonly Member[]> {
    const { store, task, batches } = this.#context;
    const waiting = await store.openedSums(task);
    const sums = await Promise.all(waiting.map(({ ctx }) => batches.find(ctx)));
    return waiting.flatMap((one, n) => {
      const sum = sums[n];
      return sum === undefined
        ? []
        : [{ ctx: one.ctx, isSpoilt: one.kind === 'spoilt', updates: sum.users.length, waiting: one, sum }];
    });
  }

  async #next(members: readonly Member[]): Promise<Sums.NextVersion<Member> | undefined> {
    const isLast = members.length > 0 && (await this.#isLast(members.map(({ waiting }) => waiting.at)));
    return Sums.nextVersion(Sums.versionRule(this.#context.policy), members, isLast);
  }

  /** By the rule that closes a small batch, and at the latest when the time of a step has passed. `times`: when the sums were opened. */
  async #isLast(times: readonly number[]): Promise<boolean> {
    const { store, task, policy, models, coming, stallMs } = this.#context;
    const now = await store.now();
    if (now - Math.min(...times) >= policy.oneShot.stepWindowMs) return true;
    const waiting = await store.shotGroups(task);
    const hasOthers = (await store.openBatches(task)).some(({ status }) => status !== 'opened');
    const idleMs = now - Math.max(...times, ...waiting.map((group) => group.lastAt));
    const quietMs = coming.quietMs(models.newest?.version ?? 0);
    return isStalled({ quietMs, idleMs, stallMs, isAwaited: hasOthers || waiting.length > 0 });
  }

  #made(next: Sums.NextVersion<Member>, fence: Fence | undefined): Promise<StoredModel> {
    const { models, watch } = this.#context;
    const named = namedOf([...next.sums, ...next.spoilt]);
    const [accepted, dropped] = [next.sums, next.spoilt].map((some) => total(some.map(({ updates }) => updates)));
    const counts = { accepted, dropped } as Counts;
    const good = next.sums.filter((member): member is GoodMember => member.waiting.kind === 'mean');
    return watch.traces.step('model-step', { ctx: named.sums[0] as Ctx }, () =>
      models.make(named, async (version) => this.#makingAt(version, good, counts), fence),
    );
  }

  /** Each sum counts by its age at this very step. */
  #makingAt(version: number, good: readonly GoodMember[], counts: Counts): Making {
    const weighed = good.map(({ sum, waiting, updates }) => ({
      weight: waiting.weightSum,
      age: Math.max(0, version - sum.rules.version),
      updates,
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
    const { blobs, read } = this.#context;
    const { combine } = Sums.versionRule(read.policy);
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
    const { models, onIncluded } = this.#context;
    for (const member of members) await this.#endOne(member, version, fence);
    await models.refresh();
    await onIncluded();
    return members.map(({ ctx }) => ctx);
  }

  /** `version` is missing if all of them are spoilt. */
  async #endOne({ ctx, waiting }: Member, version: number | undefined, fence: Fence | undefined): Promise<void> {
    const { batches } = this.#context;
    if (waiting.kind === 'spoilt') {
      granted(await batches.step(ctx, (found) => Sums.recordQuarantine(found, waiting.why, []), { fence }));
      return;
    }
    granted(await batches.step(ctx, (found) => Sums.recordIncluded(found, version as number), { fence }));
  }
}

function namedOf(members: readonly Sums.VersionSum[]): SumsOfVersion {
  const names = (isSpoilt: boolean) => members.filter((one) => one.isSpoilt === isSpoilt).map(({ ctx }) => ctx);
  return { sums: names(false), spoilt: names(true) };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
