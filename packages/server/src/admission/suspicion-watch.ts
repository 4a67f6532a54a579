/** The suspicions against the devices of a task, for its seats, routes and operators. */
import { fromHex, toHex } from '@basa/masking';
import { banned, cleared, type Standing, SUSPECT, standingAt, type TaskId, type UserId } from '@basa/protocol';
import { fail } from '@basa/service';
import type { Store } from '../store/store.ts';
import type { TaskSuspicions } from '../store/suspicions.ts';

export interface SuspicionWatchOptions {
  readonly task: TaskId;
  readonly store: Store;
}

/** A device as an operator sees it. */
export interface SuspectView {
  /** SHA-256 of its key, in hex. */
  readonly user: string;
  readonly suspicion: number;
  readonly state: 'clear' | 'suspect' | 'suspended' | 'banned';
  /** Spoilt sums that it took part in since it was last cleared. */
  readonly spoilt: number;
  readonly suspensions: number;
  /** The number of sums until its suspension ends. */
  readonly sumsLeft?: number;
}

const SOONEST_MS = 1_000;
/** The longest wait, so that a device notices when it was cleared. */
const LONGEST_MS = 600_000;
const UNKNOWN_PACE_MS = 10_000;
/** The multiple of the usual wait for a sum that counts as one sum. */
const STANDSTILL = 4;

export class SuspicionWatch {
  readonly #options: SuspicionWatchOptions;
  /** The number of suspected and of suspended devices of the task, as of the last look. */
  counts: { readonly suspects: number; readonly suspended: number } = { suspects: 0, suspended: 0 };

  constructor(options: SuspicionWatchOptions) {
    this.#options = options;
  }

  read(): Promise<TaskSuspicions> {
    const { store, task } = this.#options;
    return store.suspicions(task);
  }

  /** Ends the request of a device that is suspended or banned. */
  async check(user: UserId): Promise<void> {
    const { store, task } = this.#options;
    if (!(await store.wasSuspended(task, user))) return;
    const known = await this.read();
    const standing = known.suspects.get(toHex(user));
    if (standing?.isBanned) fail('banned');
    if (standing?.suspendedUntil === undefined) return;
    const now = await store.now();
    const left = standing.suspendedUntil - sumsAt(known, now);
    if (left <= 0) return;
    const retryAfterMs = within(left * paceOf(known));
    fail('suspended', { detail: `for the next ${left} sums of this task`, retryAfterMs });
  }

  /** A suspect that finds no seat it may take should ask again after about one sum. */
  async askAgainMs(): Promise<number> {
    return within(paceOf(await this.read()));
  }

  async look(): Promise<void> {
    const states = (await this.list()).map(({ state }) => state);
    this.counts = {
      suspects: states.filter((state) => state === 'suspect').length,
      suspended: states.filter((state) => state === 'suspended').length,
    };
  }

  /** Suspects and devices that are suspended or banned, the most suspected first. */
  async list(): Promise<readonly SuspectView[]> {
    const known = await this.read();
    const sum = sumsAt(known, await this.#options.store.now());
    const views = [...known.suspects].map(([user, standing]) => viewOf(user, standing, sum));
    return views.sort((a, b) => b.suspicion - a.suspicion || (a.user < b.user ? -1 : 1));
  }

  /** An operator clears a device, or bans it permanently. */
  async decide(user: string, decision: 'clear' | 'banned'): Promise<SuspectView> {
    const { store, task } = this.#options;
    const change = decision === 'banned' ? banned : cleared;
    const standing = await store.changeStanding(task, fromHex(user) as UserId, change);
    await this.look();
    return viewOf(user, standing, (await this.read()).sums);
  }
}

/**
 * If there is no sum for a long time, suspensions slowly expire by the clock, so that a device does not stay suspended in a task without
 * progress.
 */
function sumsAt(known: TaskSuspicions, now: number): number {
  return known.sums + Math.max(0, Math.floor((now - known.lastAt) / (STANDSTILL * paceOf(known))));
}

function viewOf(user: string, before: Standing, sum: number): SuspectView {
  const { suspicion, spoilt, suspensions, suspendedUntil, isBanned } = standingAt(before, sum);
  const known = { user, suspicion, spoilt, suspensions };
  if (isBanned) return { ...known, state: 'banned' };
  if (suspendedUntil !== undefined) return { ...known, state: 'suspended', sumsLeft: suspendedUntil - sum };
  return { ...known, state: suspicion >= SUSPECT ? 'suspect' : 'clear' };
}

function paceOf({ paceMs = UNKNOWN_PACE_MS }: TaskSuspicions): number {
  return Math.max(1, paceMs);
}

function within(ms: number): number {
  return Math.round(Math.min(LONGEST_MS, Math.max(SOONEST_MS, ms)));
}
