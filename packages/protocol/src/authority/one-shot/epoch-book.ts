/**
 * The live epochs of an authority, and the time of its last record. The authority's time never goes back before a record, so a clock that
 * was set back cannot make it vote in an epoch that it ended, or release a batch that it gave up.
 */
import { type Suite, toHex } from '@basa/masking';
import { type Millis, millis, type TaskId } from '../../wire/brands.ts';
import { type Epoch, epochCodec } from '../../wire/one-shot/epoch.ts';
import type { AuthorityRecord } from '../records.ts';

type EpochRecord = Extract<AuthorityRecord, { kind: 'epoch-opened' | 'epoch-ended' | 'batch-voted' | 'batch-final' }>;

/** An epoch whose secret still exists. */
export interface LiveEpoch {
  readonly epoch: Epoch;
  readonly statement: Uint8Array;
}

export class EpochBook {
  readonly #suite: Suite;
  readonly #live = new Map<string, LiveEpoch>();
  /** The newest number by task, ended epochs included. */
  readonly #numbers = new Map<string, number>();
  #floor = 0;

  constructor(suite: Suite) {
    this.#suite = suite;
  }

  draft(): EpochBook {
    const draft = new EpochBook(this.#suite);
    for (const [name, live] of this.#live) draft.#live.set(name, live);
    for (const [task, number] of this.#numbers) draft.#numbers.set(task, number);
    draft.#floor = this.#floor;
    return draft;
  }

  apply(entry: EpochRecord): void {
    if (entry.kind === 'epoch-opened') {
      const statement = epochCodec.statementHash(this.#suite, entry.epoch);
      this.#live.set(toHex(statement), { epoch: entry.epoch, statement });
      this.#numbers.set(toHex(entry.epoch.task), entry.epoch.number);
      this.#floor = Math.max(this.#floor, entry.epoch.opens);
      return;
    }
    if (entry.kind === 'epoch-ended') this.#live.delete(toHex(entry.statement));
    this.#floor = Math.max(this.#floor, entry.at);
  }

  /** The time, never before a record. */
  at(now: Millis): Millis {
    return millis(Math.max(now, this.#floor));
  }

  live(statement: Uint8Array): Epoch | undefined {
    return this.#live.get(toHex(statement))?.epoch;
  }

  get all(): readonly LiveEpoch[] {
    return [...this.#live.values()];
  }

  /** Their numbers rise in the order in which they opened. */
  newest(task: TaskId): LiveEpoch | undefined {
    return this.all.filter(({ epoch }) => toHex(epoch.task) === toHex(task)).at(-1);
  }

  nextNumber(task: TaskId): number {
    return (this.#numbers.get(toHex(task)) ?? -1) + 1;
  }
}
