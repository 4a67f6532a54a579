/** The costs of each step of a contribution: milliseconds, and bytes of bodies in both directions. */
import type { Costs, Step } from './contribution.ts';

interface Traffic {
  readonly sent: number;
  readonly received: number;
}

export class Meter {
  readonly #stopwatch: () => number;
  readonly #links: readonly { readonly traffic: Traffic }[];
  readonly #costs: Partial<Record<Step, { ms: number; sent: number; received: number }>> = {};

  constructor(stopwatch: () => number, links: readonly { readonly traffic: Traffic }[]) {
    this.#stopwatch = stopwatch;
    this.#links = links;
  }

  get costs(): Costs {
    return this.#costs;
  }

  async measure<T>(step: Step, work: () => T | Promise<T>): Promise<T> {
    const [start, before] = [this.#stopwatch(), this.#traffic()];
    try {
      return await work();
    } finally {
      const [after, sofar] = [this.#traffic(), this.#costs[step] ?? { ms: 0, sent: 0, received: 0 }];
      this.#costs[step] = {
        ms: sofar.ms + this.#stopwatch() - start,
        sent: sofar.sent + after.sent - before.sent,
        received: sofar.received + after.received - before.received,
      };
    }
  }

  #traffic(): Traffic {
    const sum = (way: keyof Traffic): number => this.#links.reduce((bytes, { traffic }) => bytes + traffic[way], 0);
    return { sent: sum('sent'), received: sum('received') };
  }
}
