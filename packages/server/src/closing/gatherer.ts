/**
 * How updates are gathered into a sum, one way for each engine: slots of a buffer that fills, or whole uploads that become a batch. A
 * gatherer brings a sum to `frozen`, and says how it is closed and opened; everything after that is the same (`closer.ts`).
 */
import type { Ctx, Millis, Refused, SumState, SumStep, UserId, Vote } from '@basa/protocol';
import type { StepOptions } from '../buffers/sum-keeper.ts';
import type { Fence } from '../store/leases.ts';
import type { OpenedSum } from './opening.ts';
import type { GoodPrefix } from './work/tasks.ts';

/** What the steps of the end of a sum are taken with. */
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
  /** Whether there is anything to do for a sum that is not frozen. */
  isDue(sum: Sum, now: number): boolean;
  /** Takes a sum that is not frozen as far as it goes. Returns false if it failed, and is tried again later. */
  gather(sum: Sum, fence: Fence | undefined): Promise<boolean>;
  /** Has the authorities close it, records that, and opens the sum. */
  open(sum: Sum, fence: Fence | undefined): Promise<OpenedSum>;
  /** The votes that it was closed by. */
  votesFor(sum: Sum): readonly Vote[];
  /** Whose these slots are, or positions of a batch. */
  usersAt(sum: Sum, slots: readonly number[]): readonly UserId[];
  /** How many updates are in it, and how many came to nothing. */
  countsOf(sum: Sum): { readonly accepted: number; readonly dropped: number };
  /** The mean age of its updates when it is applied to version `now`. */
  ageAt(sum: Sum, prefix: GoodPrefix, now: number): number;
  /** Whether no further sum is expected to make a version with these, which wait for one; the times are of the first and the last of them. */
  isLast(waiting: { readonly firstAt: number; readonly lastAt: number }): Promise<boolean>;
  /** Authorities refuse: perhaps the sum is lost, which is recorded then. */
  lost(sum: Sum, fence: Fence | undefined): Promise<void>;
  /** It has ended: what was stored for it alone is not needed any more. */
  ended(sum: Sum): Promise<void>;
}
