/** The result of offering an update, the events on the way to it, and its costs. They contain no secrets: no seeds, keys or updates. */
import { type Gathering, type ProblemCode, Problems } from '@basa/protocol/http';
import type { Ledger } from '@basa/protocol/one-shot';
import { ProblemError } from '../errors.ts';
import type { RetryNotice } from '../services/attempts.ts';

/** A one-shot contribution is masked and uploaded; `connect` and `key` are steps of paper mode. */
export type Step = 'connect' | 'key' | 'mask' | 'upload';

/** The cost of each step in this process: steps of an earlier process, before a crash, are missing. */
export type Costs = Readonly<
  Partial<Record<Step, { readonly ms: number; readonly sent: number; readonly received: number }>>
>;

/** Names are in hex. */
export interface Contribution {
  readonly kind: 'accepted';
  /** The name of the upload; in paper mode, of the buffer. */
  readonly ctx: string;
  readonly joinTag: string;
  /** Its position in the buffer, only in paper mode. */
  readonly position?: number;
  readonly costs: Costs;
}

export interface Rejection {
  readonly kind: 'rejected';
  readonly reason: ProblemCode;
  readonly detail?: string;
  readonly retryAfterMs?: number;
  /** With `no-place`, if too few devices take part. */
  readonly gathering?: Gathering;
  /**
   * `free`: nothing of the update was given, and it may be offered again. `given`: an update is given once, so the device trains on a newer
   * version of the model. With `task-paused` and similar reasons, its bytes wait on this device, and `resume` or the next `contribute` sends
   * them.
   */
  readonly update: 'free' | 'given';
}

export interface ClientEvents {
  /** A step has started or made progress. For the upload, `sent` of `total` bytes are sent. */
  progress: { readonly step: Step; readonly sent?: number; readonly total?: number };
  /** The update is now a quantised input. It had this norm, and was shortened to the clip of the task if that is smaller. Only the device knows. */
  quantized: { readonly norm: number; readonly clip: number };
  /** Values of a report that are out of range, or not among the choices. Only the device knows. */
  outside: { readonly fields: readonly string[] };
  accepted: Contribution;
  rejected: Rejection;
  /** A request failed and is sent again after a wait. */
  retry: RetryNotice;
  /** In a private task: the spent budget, after an update was given. */
  privacy: Ledger.PrivacySpent;
  /** `run` waits because too few devices take part: once, and again when the numbers change (`gatheringText`). */
  waiting: Gathering;
  model: { readonly version: number; readonly bytes: number };
  trained: { readonly version: number; readonly loss: number; readonly samples: number };
}

type Listener<Name extends keyof ClientEvents> = (event: ClientEvents[Name]) => void;

export class Emitter {
  readonly #listeners = new Map<keyof ClientEvents, Set<Listener<never>>>();

  /** Returns a function that removes the listener. */
  on<Name extends keyof ClientEvents>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener as Listener<never>));
    return () => void listeners.delete(listener as Listener<never>);
  }

  emit<Name extends keyof ClientEvents>(name: Name, event: ClientEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as Listener<Name>)(event);
      } catch (error) {
        // A listener's error surfaces, but not in the middle of a session.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

interface Traffic {
  readonly sent: number;
  readonly received: number;
}

export class Meter {
  readonly #stopwatch: () => number;
  readonly #links: readonly { readonly traffic: Traffic }[];
  readonly #costs: Partial<Record<Step, { ms: number; sent: number; received: number }>> = {};

  constructor(stopwatch: () => number, links: readonly { readonly traffic: Traffic }[]) {
    this.#stopwatch = stopwatch;
    this.#links = links;
  }

  get costs(): Costs {
    return this.#costs;
  }

  async measure<T>(step: Step, work: () => T | Promise<T>): Promise<T> {
    const [start, before] = [this.#stopwatch(), this.#traffic()];
    try {
      return await work();
    } finally {
      const [after, sofar] = [this.#traffic(), this.#costs[step] ?? { ms: 0, sent: 0, received: 0 }];
      this.#costs[step] = {
        ms: sofar.ms + this.#stopwatch() - start,
        sent: sofar.sent + after.sent - before.sent,
        received: sofar.received + after.received - before.received,
      };
    }
  }

  #traffic(): Traffic {
    const sum = (way: keyof Traffic): number => this.#links.reduce((bytes, { traffic }) => bytes + traffic[way], 0);
    return { sent: sum('sent'), received: sum('received') };
  }
}

/** Returns the rejection of an update that was not sent yet; rethrows a fault. */
export function rejectionOf(error: unknown): Rejection {
  if (!(error instanceof ProblemError) || error.code === 'unknown-problem') throw error;
  if (Problems.problemOf(error.code).about !== 'update') throw error;
  return rejected(error.code, 'free', error);
}

export function rejected(
  reason: ProblemCode,
  update: Rejection['update'],
  { detail, retryAfterMs, gathering }: Partial<Pick<ProblemError, 'detail' | 'retryAfterMs' | 'gathering'>> = {},
): Rejection {
  return {
    kind: 'rejected',
    reason,
    update,
    ...(detail === undefined ? {} : { detail }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(gathering === undefined ? {} : { gathering }),
  };
}
