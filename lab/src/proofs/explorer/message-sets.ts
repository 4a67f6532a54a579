/** Every message that was ever sent, and the sets of them that states hold, as numbers. */
import { canonical } from './canonical.ts';
import { Interner } from './interner.ts';
import { messageProblem } from './invariants.ts';
import type { Message } from './messages.ts';
import { remembered } from './remembered.ts';

interface MessageSet {
  readonly numbers: readonly number[];
  readonly problem: string | undefined;
}

/** Bounds the numbers of messages, so that a set or a local state and a message are one number. */
export const MAX_MESSAGES = 2 ** 16;

export class MessageSets {
  readonly #messages = new Interner<Message>();
  readonly #sets = new Interner<MessageSet>();
  readonly #unions = new Map<number, number>();
  readonly #choices = new Map<number, readonly (readonly number[])[]>();
  readonly #threshold: number;

  /** `threshold`: the number of authorities that must have made a statement. */
  constructor(threshold: number) {
    this.#threshold = threshold;
  }

  /** The number of distinct messages. */
  get size(): number {
    return this.#messages.size;
  }

  /** The empty set. */
  get empty(): number {
    return this.#sets.number('', { numbers: [], problem: undefined });
  }

  number(message: Message): number {
    return this.#messages.number(canonical(message), message);
  }

  message(number: number): Message {
    return this.#messages.value(number);
  }

  /** The messages of a set. */
  numbers(set: number): readonly number[] {
    return this.#sets.value(set).numbers;
  }

  /** Returns a contradiction among the messages of a set, if any. */
  problem(set: number): string | undefined {
    return this.#sets.value(set).problem;
  }

  union(set: number, message: number): number {
    return remembered(this.#unions, set * MAX_MESSAGES + message, () =>
      this.numbers(set).includes(message) ? set : this.#larger(set, message),
    );
  }

  /** All combinations of answers to one question from enough authorities, with at most one answer from each authority. */
  choices(set: number): readonly (readonly number[])[] {
    return remembered(this.#choices, set, () => {
      const groups = new Map<string, number[]>();
      for (const number of this.numbers(set)) {
        const message = this.message(number);
        if (!('from' in message)) continue;
        const name = `${message.kind} ${message.buffer} ${message.kind === 'key' ? message.user : ''}`;
        groups.set(name, [...(groups.get(name) ?? []), number]);
      }
      const authorityOf = (number: number): number => (this.message(number) as { from: number }).from;
      return [...groups.values()].flatMap((own) =>
        oneOfEach(own, authorityOf).filter((choice) => choice.length >= this.#threshold),
      );
    });
  }

  #larger(set: number, added: number): number {
    const { numbers, problem } = this.#sets.value(set);
    const larger = [...numbers, added].sort((a, b) => a - b);
    const before = numbers.map((number) => this.message(number));
    return this.#sets.number(larger.join(), {
      numbers: larger,
      problem: problem ?? messageProblem(before, this.message(added)),
    });
  }
}

/** All ways to take at most one of each group. */
function oneOfEach(items: readonly number[], groupOf: (item: number) => number): readonly (readonly number[])[] {
  const groups = [...new Set(items.map(groupOf))];
  return groups.reduce<readonly (readonly number[])[]>(
    (some, group) => {
      const own = items.filter((item) => groupOf(item) === group);
      return some.flatMap((chosen) => [chosen, ...own.map((item) => [...chosen, item])]);
    },
    [[]],
  );
}
