/** The result of offering an update: accepted, or a reason and what may be done with it. */
import type { Gathering, ProblemCode } from '@basa/protocol/http';

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
