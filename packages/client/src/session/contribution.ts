/** The result of offering an update: accepted, or a reason and what may be done with it. */
import type { ProblemCode } from '@basa/protocol';

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
  /**
   * `free`: the server does not have the update, and it may be offered again. `held`: the server may have the update, and it may be offered
   * again only after the authority's outcome. `contribute` asks for this outcome. With `task-paused` and similar reasons, its bytes wait on
   * this device, and `resume` or the next `contribute` sends them.
   */
  readonly update: 'free' | 'held';
}

/**
 * The status of a contribution according to the authority. `undecided`: its batch is open. `unknown`: the authority has lost its records.
 * `expired`: the update is in no sum and never will be. Two values are statements of the server. `quarantined`: the sum with
 * this update failed its checks, or cannot be opened any more. `discarded`: the server leaves the update out. It stays held until it is `expired`.
 */
export type ContributionOutcome = 'included' | 'quarantined' | 'expired' | 'discarded' | 'undecided' | 'unknown';
