/** How authorities are asked: several in parallel, and again after a failure. */
import { Poll } from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from './authority-http.ts';

export interface Answered<Answer> {
  /** The index of the authority. */
  readonly authority: number;
  readonly answer: Answer;
}

export interface Question<Answer> {
  readonly authority: number;
  ask(): Promise<Answer>;
}

export interface GatherOptions<Answer> {
  /** Fewer answers are a failure. */
  readonly needed: number;
  /** The time for which the others are awaited once there are enough. */
  readonly graceMs: number;
  /** True if these are enough; until then all are awaited. Without it, as many as are needed. */
  isEnough?(answers: readonly Answered<Answer>[]): boolean;
}

/**
 * Asks several authorities in parallel, and waits for as many as are needed: the slowest ones delay nothing. Each
 * request judges its own answer and throws if it is wrong, so that a lying authority counts as a silent one.
 * Returns the answers that came in time.
 * Throws the refusal if enough refused, otherwise an error that too few answer.
 */
export function gather<Answer>(
  questions: readonly Question<Answer>[],
  { needed, graceMs, isEnough = () => true }: GatherOptions<Answer>,
): Promise<readonly Answered<Answer>[]> {
  const poll = new Poll<Answered<Answer>>(questions.length, (good) => good.length >= needed && isEnough(good));
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(timer);
      if (poll.good.length >= needed) resolve([...poll.good].sort((a, b) => a.authority - b.authority));
      else reject(whyOf(poll.failures, needed, questions.length));
    };
    const settle = (): void => {
      if (poll.isOver) end();
      else if (poll.isEnough && graceMs === 0) end();
      else if (poll.isEnough) timer ??= setTimeout(end, graceMs);
    };
    if (questions.length < needed) reject(new AuthorityUnreachable(`${needed} authorities are needed`));
    for (const { authority, ask } of questions) {
      ask()
        .then((answer) => poll.answered({ authority, answer }, undefined))
        .catch((error: unknown) => poll.failed(error))
        .finally(settle);
    }
  });
}

/** A refusal by enough authorities is a refusal; if too few answered at all, that is the error. */
function whyOf(errors: readonly unknown[], needed: number, asked: number): unknown {
  const [first] = errors;
  if (asked === 1) return first;
  const refusals = errors.filter((error) => error instanceof AuthorityRefusal);
  if (refusals.length > asked - needed) return refusals[0];
  const words = errors.map((error) => (error instanceof Error ? error.message : String(error))).join('; ');
  return new AuthorityUnreachable(
    `${needed} of ${asked} authorities are needed, and ${errors.length} failed: ${words}`,
    {
      cause: first,
    },
  );
}

export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Limits for requests to authorities. */
const LIMITS: BackoffLimits = { firstMs: 500, longestMs: 15_000 };

interface Wait {
  readonly ms: number;
  readonly from: number;
}

/** The time of the next try after a failure: twice the last wait, up to a bound. */
export class Backoff {
  readonly #clock: () => number;
  readonly #limits: BackoffLimits;
  readonly #waits = new Map<string, Wait>();

  constructor(clock: () => number, limits = LIMITS) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** A clock that was set back delays nothing. */
  isDue(name: string): boolean {
    const wait = this.#waits.get(name);
    const waitedMs = wait === undefined ? 0 : this.#clock() - wait.from;
    return wait === undefined || waitedMs >= wait.ms || waitedMs < 0;
  }

  /** The time of its last failure; undefined if it has not failed. */
  failedAt(name: string): number | undefined {
    return this.#waits.get(name)?.from;
  }

  failed(name: string): void {
    const { firstMs, longestMs } = this.#limits;
    const before = this.#waits.get(name);
    const ms = before === undefined ? firstMs : Math.min(2 * before.ms, longestMs);
    this.#waits.set(name, { ms, from: this.#clock() });
  }

  /** It succeeded, or is not tried any more. */
  over(name: string): void {
    this.#waits.delete(name);
  }

  /** Forgets all others. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#waits.keys()) if (!names.has(name)) this.#waits.delete(name);
  }
}
