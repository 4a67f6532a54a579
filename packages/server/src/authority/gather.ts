/** How authorities are asked: several in parallel, and again after a failure. */
import { Councils } from '@basa/protocol/wire';
import { AuthorityRefusal, AuthorityUnreachable } from './authority-http.ts';
import type { AuthorityLink } from './authority-link.ts';

export interface Member {
  /** The index of the authority. */
  readonly authority: number;
  readonly link: AuthorityLink;
}

/** The time for which authorities that are not needed are awaited: their answers allow others to be down later. */
const GRACE_MS = 500;

/**
 * Asks several authorities in parallel, and waits for as many as are needed: the slowest ones delay nothing. Each
 * request judges its own answer and throws if it is wrong, so that a lying authority counts as a silent one. Throws
 * the refusal if enough refused, otherwise an error that too few answer.
 */
export function gather(
  members: readonly Member[],
  needed: number,
  ask: (member: Member) => Promise<void>,
): Promise<void> {
  const poll = new Councils.Poll<Member>(members.length, (good) => good.length >= needed);
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(timer);
      if (poll.good.length >= needed) resolve();
      else reject(whyOf(poll.failures, needed, members.length));
    };
    const settle = (): void => {
      if (poll.isOver) end();
      else if (poll.isEnough) timer ??= setTimeout(end, GRACE_MS);
    };
    if (members.length < needed) reject(new AuthorityUnreachable(`${needed} authorities are needed`));
    for (const member of members) {
      ask(member)
        .then(() => poll.answered(member, undefined))
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
