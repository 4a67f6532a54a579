/** What becomes of an update that is offered: taken, or a reason and what may be done with it. */
import type { ProblemCode } from '@basa/protocol';

export type Step = 'seat' | 'deposit' | 'key' | 'mask' | 'upload';

/** What each step cost in this process: a step of an earlier one, before a crash, is not there. */
export type Costs = Readonly<
  Partial<Record<Step, { readonly ms: number; readonly sent: number; readonly received: number }>>
>;

/** Names are in hex. */
export interface Contribution {
  readonly kind: 'accepted';
  readonly ctx: string;
  readonly joinTag: string;
  /** Undefined in the one-shot mode, where an update takes no slot and `ctx` names the upload itself. */
  readonly slot: number | undefined;
  readonly costs: Costs;
}

export interface Rejection {
  readonly kind: 'rejected';
  readonly reason: ProblemCode;
  readonly detail?: string;
  readonly retryAfterMs?: number;
  /**
   * `free`: it was given to nobody and may be offered again. `held`: a buffer may have it; it goes elsewhere only after
   * the authority's outcome, which `contribute` asks for by itself.
   */
  readonly update: 'free' | 'held';
}

/**
 * What the authority says of a contribution: `undecided` while its buffer is open, `unknown` where its memory is lost.
 * `expired`, in the one-shot mode: it is in no sum and never will be. Two are the server's word: `quarantined`, of one in a sum that failed
 * its checks, and `discarded`, in the one-shot mode, of one that it leaves out, which stays held until it is `expired`.
 */
export type ContributionOutcome =
  | 'included'
  | 'quarantined'
  | 'excluded'
  | 'aborted'
  | 'expired'
  | 'discarded'
  | 'undecided'
  | 'unknown';
