/** Steps that wait for their turn: all that wait when it comes are taken together, and each gets its own answer. */
import type { AttributeAuthority, AuthorityStep, Millis, Refused } from '@basa/protocol';
import { NotLookedUp } from '../log/looked-up-log.ts';

export type Step<Answer> = (core: AttributeAuthority, now: Millis) => AuthorityStep<Answer>;

/** The result of a step: it threw and wrote nothing, or it is durable. */
export type Taken = { readonly step: AuthorityStep<unknown> } | { readonly error: unknown };

interface WaitingStep {
  readonly step: Step<unknown>;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Bounds the time that the lock, and the first caller, wait for later callers. */
const MAX_TOGETHER = 64;

export class WaitingSteps {
  readonly #take: (steps: () => readonly Step<unknown>[]) => Promise<readonly Taken[]>;
  readonly #waiting: WaitingStep[] = [];

  /** `take` requests the steps when their turn has come; it may request the same ones again. */
  constructor(take: (steps: () => readonly Step<unknown>[]) => Promise<readonly Taken[]>) {
    this.#take = take;
  }

  add<Answer>(step: Step<Answer>): Promise<Answer | Refused> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ step, resolve: resolve as WaitingStep['resolve'], reject });
      if (this.#waiting.length === 1) this.#takeNext();
    });
  }

  #takeNext(): void {
    let together: readonly WaitingStep[] | undefined;
    const steps = (): readonly Step<unknown>[] => {
      together ??= this.#next();
      return together.map(({ step }) => step);
    };
    this.#take(steps).then(
      (taken) => {
        for (const [n, outcome] of taken.entries()) {
          if ('error' in outcome) together?.[n]?.reject(outcome.error);
          else together?.[n]?.resolve(outcome.step.answer);
        }
      },
      (error: unknown) => {
        // If the failure came before any step was taken, all waiting steps fail with it.
        for (const { reject } of together ?? this.#waiting.splice(0)) reject(error);
      },
    );
  }

  #next(): readonly WaitingStep[] {
    const next = this.#waiting.splice(0, MAX_TOGETHER);
    if (this.#waiting.length > 0) this.#takeNext();
    return next;
  }
}

/** An error of the step itself ends only this step; an error of a database read ends all of them. */
export function tried(step: () => AuthorityStep<unknown>): Taken {
  try {
    return { step: step() };
  } catch (error) {
    if (error instanceof NotLookedUp) throw error;
    return { error };
  }
}
