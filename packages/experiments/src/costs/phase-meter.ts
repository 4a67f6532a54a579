/** Listens to a protocol: time, counted operations and bytes of each party in each phase. */
import type { Message, Observer, Party } from '@basa/baselines';
import type { Suite } from '@basa/masking';
import { ascii, equalBytes } from '@basa/masking';
import type { Sealings } from '@basa/simulator';
import type { Counted } from './costs.ts';
import { cpuMs } from './cpu-time.ts';

export interface Account {
  ms: number;
  up: number;
  down: number;
  readonly counts: Record<Counted, number>;
}

const MASK_LABEL = ascii('mask');

export class PhaseMeter implements Observer {
  readonly #accounts = new Map<string, Account>();
  readonly #running: { readonly account: Account; nestedMs: number }[] = [];

  compute<Result>(party: Party, phase: string, user: number | undefined, work: () => Result): Result {
    const frame = { account: this.of(party, phase, user), nestedMs: 0 };
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

  sent({ from, phase, user, bytes }: Message): void {
    const account = this.of('user', phase, user);
    if (from === 'user') account.up += bytes;
    else account.down += bytes;
  }

  /** One party in one phase so far. */
  of(party: Party, phase: string, user?: number): Account {
    const name = `${party} ${phase} ${party === 'user' ? user : ''}`;
    const account = this.#accounts.get(name) ?? emptyAccount();
    this.#accounts.set(name, account);
    return account;
  }

  /** The suite, with each derivation of a mask's key counted: that is one expansion. */
  listenToSuite(suite: Suite): Suite {
    return {
      ...suite,
      hkdf: (input) => {
        if (equalBytes(input.info, MASK_LABEL)) this.#count('expansions');
        return suite.hkdf(input);
      },
    };
  }

  listenToSealing({ engine, issuer, sealing }: Sealings): Sealings {
    return {
      engine,
      issuer: {
        ...issuer,
        issue: (attribute) => {
          this.#count('issues');
          return issuer.issue(attribute);
        },
      },
      sealing: {
        ...sealing,
        seal: (...input) => {
          this.#count('seals');
          return sealing.seal(...input);
        },
        open: (...input) => {
          this.#count('opens');
          return sealing.open(...input);
        },
      },
    };
  }

  #count(what: Counted): void {
    const account = this.#running.at(-1)?.account;
    if (account !== undefined) account.counts[what]++;
  }
}

function emptyAccount(): Account {
  return { ms: 0, up: 0, down: 0, counts: { expansions: 0, seals: 0, opens: 0, issues: 0 } };
}
