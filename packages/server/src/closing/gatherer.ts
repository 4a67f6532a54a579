/**
 * Gathers updates into a sum, with one implementation for each engine: slots of a buffer that fills, or whole uploads
 * that become a batch. A gatherer brings a sum to `frozen`, and closes and opens it; everything after that is the same
 * (`closer.ts`).
 */
import type { Ctx, Millis, Refused, SumState, SumStep, UserId, Vote } from '@basa/protocol';
import type { StepOptions } from '../buffers/sum-keeper.ts';
import type { Fence } from '../store/leases.ts';
import type { OpenedSum } from './opening.ts';
import type { GoodPrefix } from './work/tasks.ts';

/** The keeper of the steps that end a sum. */
interface EndingKeeper<Sum extends SumState> {
  find(ctx: Ctx): Promise<Sum | undefined>;
  step<Answer>(
    ctx: Ctx,
    work: (sum: Sum, now: Millis) => SumStep<Sum, Answer>,
    options?: StepOptions<Sum>,
  ): Promise<Answer | Refused>;
}

export interface Gatherer<Sum extends SumState> {
  readonly keeper: EndingKeeper<Sum>;
  /** True if there is something to do for a sum that is not frozen. */
  isDue(sum: Sum, now: number): boolean;
  /** Takes a sum that is not frozen as far as possible. Returns false if it failed, and is tried again later. */
  gather(sum: Sum, fence: Fence | undefined): Promise<boolean>;
  /** Has the authorities close it, records that, and opens the sum. */
  open(sum: Sum, fence: Fence | undefined): Promise<OpenedSum>;
  /** The votes that closed it. */
  votesFor(sum: Sum): readonly Vote[];
  /** The users of these slots, or of these positions of a batch. */
  usersAt(sum: Sum, slots: readonly number[]): readonly UserId[];
  /** The number of updates in it, and the number of dropped ones. */
  countsOf(sum: Sum): { readonly accepted: number; readonly dropped: number };
  /** The mean age of its updates when it is applied to version `now`. */
  ageAt(sum: Sum, prefix: GoodPrefix, now: number): number;
  /**
   * True if no further sum is expected to make a version with these waiting ones; the times are of the first and the
   * last of them.
   */
  isLast(waiting: { readonly firstAt: number; readonly lastAt: number }): Promise<boolean>;
  /** Authorities refuse: if the sum is lost, this is recorded. */
  lost(sum: Sum, fence: Fence | undefined): Promise<void>;
  /** It has ended: data that was stored only for it is not needed any more. */
  ended(sum: Sum): Promise<void>;
}
