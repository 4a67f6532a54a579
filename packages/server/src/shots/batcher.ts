/** Makes batches of good uploads as soon as waiting has no more benefit, and ends uploads that can no longer be in a batch. */
import { toHex } from '@basa/masking';
import type { UserId } from '@basa/protocol';
import { Batching, leastOfVersion } from '@basa/protocol/one-shot';
import { Privacy, type TaskPolicy } from '@basa/protocol/policy';
import { batchOf } from '@basa/protocol/wire';
import type { PendingShots, ShotGroup, StoredShot } from '../store/shots.ts';
import type { Fence } from '../store/sql.ts';
import { endShots, type ShotContext, type ShotEnd } from './inspector.ts';

/** The largest number of uploads that are read for a batch. */
const MOST = 40_000;
/** The largest number that are ended at a time: the next look ends others. */
const ENDED_AT_ONCE = 1_000;
/** A batch is made this long before the time to vote for it runs out. */
const MARGIN_MS = 60_000;

export class Batcher {
  readonly #context: ShotContext;
  /** In a task that limits participations: the devices of batches whose votes may be under way. */
  #voting: readonly UserId[] = [];
  /** As of the last look; undefined before it. */
  pending: PendingShots | undefined;

  constructor(context: ShotContext) {
    this.#context = context;
  }

  /** The store counts uploads; they are read only for a batch that is due. Returns true if some are to be inspected again for one. */
  async look(fence: Fence): Promise<boolean> {
    const { store, task } = this.#context;
    const now = await store.now();
    const found = await store.shotGroups(task);
    await this.#forgetVoting();
    let isChanged = await this.#endHopeless(found, now, fence);
    let isOutdated = false;
    for (const groups of this.#together(found)) {
      const done = await this.#batch(groups, now, fence);
      if (done !== 'nothing') isChanged = true;
      if (done === 'outdated') isOutdated = true;
    }
    const left = isChanged ? await store.shotGroups(task) : found;
    this.pending = left.reduce(together, { arriving: 0, waiting: 0, good: 0 });
    return isOutdated;
  }

  /** `made`: some are in batches from now on. `outdated`: nobody knows any more which authorities would vote for some of them. */
  async #batch(groups: readonly ShotGroup[], now: number, fence: Fence): Promise<'made' | 'outdated' | 'nothing'> {
    const { task, policy, store, voters } = this.#context;
    const marginMs = Math.min(MARGIN_MS, policy.oneShot.epochMs / 2);
    const pace = this.#pace(groups, now);
    const good = groups.reduce((sum, group) => sum + group.good, 0);
    const firstMs = earliest(groups.map(({ votesFirst }) => votesFirst)) - now;
    if (!isBatchDue(policy, good, { pace, leftMs: firstMs, marginMs })) return 'nothing';
    const stored = await Promise.all(groups.map(({ model }) => store.goodShots(task, model, MOST)));
    const free = this.#free(stored.flat());
    const outdated = free.filter(({ name }) => voters.of(name) === undefined).map(({ name }) => name);
    if (outdated.length > 0) {
      await store.decideShots(task, outdated, { from: 'good', to: 'waiting' }, fence);
      return 'outdated';
    }
    let rest = free.map((shot) => ({ ...shot, voters: voters.of(shot.name) as Batching.Voters }));
    for (let made = 0; ; made++) {
      const picked = Batching.pickBatch(policy, rest);
      const leftMs = earliest(picked.map(({ votes }) => votes.first)) - now;
      const isDue = isBatchDue(policy, picked.length, { pace, leftMs, marginMs });
      if (!isDue || !(await this.#make(picked, fence))) return made > 0 ? 'made' : 'nothing';
      const taken = new Set<StoredShot>(picked);
      rest = rest.filter((shot) => !taken.has(shot));
    }
  }

  async #make(picked: readonly StoredShot[], fence: Fence): Promise<boolean> {
    const { task, policy, batches } = this.#context;
    const names = picked.map(({ name }) => name);
    const sum = await batches.add(batchOf(task, names), fence);
    if (sum !== undefined && Privacy.participationsOf(policy) !== undefined)
      this.#voting = [...this.#voting, ...sum.users];
    return sum !== undefined;
  }

  /**
   * A vote uses up budget of a device. So its other uploads are in no batch while authorities may be voting, and are inspected again
   * afterwards: otherwise authorities that vote in different orders could refuse each of two batches.
   */
  #free(shots: readonly StoredShot[]): readonly StoredShot[] {
    const users = new Set(this.#voting.map(toHex));
    return users.size === 0 ? shots : shots.filter(({ upload }) => !users.has(toHex(upload.header.user)));
  }

  async #forgetVoting(): Promise<void> {
    const { task, policy, store, voters } = this.#context;
    if (Privacy.participationsOf(policy) === undefined) return;
    voters.forgetUsers(this.#voting);
    this.#voting = await store.usersInVotes(task);
  }

  /** The uploads that may be in one batch: those of one version, or all if batches mix versions. */
  #together(groups: readonly ShotGroup[]): readonly (readonly ShotGroup[])[] {
    const { policy } = this.#context;
    if (leastOfVersion(policy) === policy.minimum) return groups.map((group) => [group]);
    return groups.length === 0 ? [] : [groups];
  }

  #pace(groups: readonly ShotGroup[], now: number): Pace {
    const { coming, stallMs } = this.#context;
    return {
      quietMs: earliest(groups.map(({ version }) => coming.quietMs(version))),
      idleMs: now - Math.max(...groups.map(({ lastAt }) => lastAt)),
      stallMs,
      isAwaited: groups.some(({ arriving, waiting }) => arriving + waiting > 0),
    };
  }

  /**
   * Ends uploads on versions that are too old or cannot have enough updates any more, and of epochs that no authority
   * votes for any more. Returns true if there were any.
   */
  async #endHopeless(groups: readonly ShotGroup[], now: number, fence: Fence): Promise<boolean> {
    const { models, store, task } = this.#context;
    const isOver = await Promise.all(
      groups.map(async (group) => this.#isOver(group) || (await models.isRepeated(group.version))),
    );
    const over = groups.filter((_, n) => isOver[n]);
    for (const { model } of over)
      await this.#end(await store.shotsOn(task, model, ENDED_AT_ONCE), { to: 'over', reason: 'version-over' }, fence);
    const isLate = groups.some(({ votesLast }) => votesLast <= now);
    if (isLate)
      await this.#end(
        await store.shotsPastVotes(task, now, ENDED_AT_ONCE),
        { to: 'refused', reason: 'epoch-over' },
        fence,
      );
    return over.length > 0 || isLate;
  }

  #end(shots: readonly StoredShot[], end: ShotEnd, fence: Fence): Promise<void> {
    return endShots(this.#context, shots, end, fence);
  }

  #isOver({ version, arriving, waiting, good }: ShotGroup): boolean {
    const { coming, policy, models } = this.#context;
    const newest = models.newest?.version ?? 0;
    const own = arriving + waiting + good;
    const isShort = own + (coming.coming(version) ?? Number.POSITIVE_INFINITY) < leastOfVersion(policy);
    return newest - version > policy.maxStaleness || (version < newest && isShort);
  }
}

function together(one: PendingShots, other: PendingShots): PendingShots {
  return {
    arriving: one.arriving + other.arriving,
    waiting: one.waiting + other.waiting,
    good: one.good + other.good,
  };
}

function earliest(times: readonly number[]): number {
  return times.reduce((first, time) => Math.min(first, time), Number.POSITIVE_INFINITY);
}

/** A batch is made immediately if it is full. Otherwise it is made if no other device comes, or if the time to vote for it runs out. */
export function isBatchDue(
  { bufferSize, minimum }: TaskPolicy,
  uploads: number,
  { pace, leftMs, marginMs }: { readonly pace: Pace; readonly leftMs: number; readonly marginMs: number },
): boolean {
  if (uploads < minimum) return false;
  return uploads >= bufferSize || isStalled(pace) || leftMs <= marginMs;
}

/** After this time without a device under way, none will come. */
const NOBODY_COMES_MS = 1_000;
/** The time for which an upload that has begun is awaited if no other device comes. */
const UPLOAD_MS = 5_000;

export interface Pace {
  /** The time for which no device has been on its way to it. Infinite if no device will come. */
  readonly quietMs: number;
  /** The time since the last upload. */
  readonly idleMs: number;
  readonly stallMs: number;
  /** Uploads have begun, and are not whole or not inspected yet. */
  readonly isAwaited: boolean;
}

/** True if waiting for more updates does not pay. */
export function isStalled({ quietMs, idleMs, stallMs, isAwaited }: Pace): boolean {
  const waitMs = isAwaited ? UPLOAD_MS : quietMs === Number.POSITIVE_INFINITY ? 0 : NOBODY_COMES_MS;
  const isQuiet = quietMs >= NOBODY_COMES_MS && idleMs >= waitMs;
  return isQuiet || idleMs >= stallMs;
}
