/** Listens to a protocol: time, expensive calls and bytes of each user, of the server and of the authority, by phase. */
import type { Message, Observer, Party } from '@basa/baselines';
import { ascii, equalBytes, type Suite } from '@basa/masking';
import { cpuMs } from './cpu-time.ts';

/** Operations that are counted instead of timed, because they are charged at their own price: mask expansions and sealing. */
export type Counted = 'expansions' | 'seals' | 'opens' | 'issues';

export interface Account {
  ms: number;
  up: number;
  down: number;
  readonly counts: Record<Counted, number>;
}

/** The accounts of one party, by phase. */
export type Book = Map<string, Account>;

const MASK_LABEL = ascii('mask');

export class Meter implements Observer {
  readonly users = new Map<number, Book>();
  readonly server: Book = new Map();
  readonly authority: Book = new Map();
  readonly #running: { readonly account: Account; nestedMs: number }[] = [];

  compute<Result>(party: Party, phase: string, user: number | undefined, work: () => Result): Result {
    const frame = { account: accountIn(this.#bookOf(party, user), phase), nestedMs: 0 };
    this.#running.push(frame);
    const began = cpuMs();
    try {
      return work();
    } finally {
      const elapsed = cpuMs() - began;
      this.#running.pop();
      frame.account.ms += elapsed - frame.nestedMs;
      const outer = this.#running.at(-1);
      if (outer !== undefined) outer.nestedMs += elapsed;
    }
  }

  sent({ phase, from, user, bytes }: Message): void {
    const account = accountIn(this.#bookOf('user', user), phase);
    if (from === 'user') account.up += bytes;
    else account.down += bytes;
  }

  count(what: Counted): void {
    const account = this.#running.at(-1)?.account;
    if (account !== undefined) account.counts[what]++;
  }

  /** The suite, counting each derivation of a mask's key: each is one expansion. */
  listen(suite: Suite): Suite {
    return {
      ...suite,
      hkdf: (input) => {
        if (equalBytes(input.info, MASK_LABEL)) this.count('expansions');
        return suite.hkdf(input);
      },
    };
  }

  #bookOf(party: Party, user: number | undefined): Book {
    if (party !== 'user') return this[party];
    const book = this.users.get(user ?? -1) ?? new Map();
    this.users.set(user ?? -1, book);
    return book;
  }
}

export function accountIn(book: Book, phase: string): Account {
  const account = book.get(phase) ?? emptyAccount();
  book.set(phase, account);
  return account;
}

function emptyAccount(): Account {
  return { ms: 0, up: 0, down: 0, counts: { expansions: 0, seals: 0, opens: 0, issues: 0 } };
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
