/**
 * Runs the steps of sums over the store: locked, durable, then answered. It keeps copies of sums that have not ended in
 * memory; if several nodes share the store, a copy may be old, and every step reads the new facts.
 */
import { equalBytes, toHex } from '@basa/masking';
import {
  type BasaEvent,
  type BufferFact,
  type Ctx,
  type Millis,
  millis,
  type Refused,
  type ServerPorts,
  type SumState,
  type TaskId,
  type Transition,
} from '@basa/protocol';
import { type BufferChange, isEnded } from '../store/buffers.ts';
import type { Fence } from '../store/leases.ts';
import type { Store } from '../store/store.ts';

/** Returns the copy in memory if no other node can have changed its source, otherwise the result of `read`. */
export type UpToDate = <Copy>(copy: Copy, read: () => Promise<Copy>) => Promise<Copy>;

interface Kept<Sum> {
  readonly sum: Sum;
  /** The number of its facts. */
  readonly number: number;
}

/** The parts of a step's transaction besides its records. */
type More = Pick<BufferChange, 'body' | 'opened' | 'logged' | 'withoutModel' | 'burnt' | 'verdict' | 'freed'>;
type MoreOf<Sum> = (before: Sum, after: Sum, now: Millis) => More;

export interface StepOptions<Sum> {
  readonly more?: More | MoreOf<Sum>;
  /** The lease under which the step is taken. */
  readonly fence?: Fence | undefined;
}

export interface KeeperOptions<Sum> {
  readonly store: Store;
  readonly ports: ServerPorts;
  readonly upToDate: UpToDate;
  onEvent(event: BasaEvent): void;
  /** Called with every sum that was read or changed. */
  onBuffer(sum: Sum): void;
  /** Called with every sum that this node has changed. */
  onChange?(sum: SumState): void;
}

/** The differences between buffers of slots and batches. */
export interface SumKind<Sum extends SumState, Entry extends { readonly kind: string }> {
  /** The initial state of a sum. Undefined if it is not in the store. */
  begin(ctx: Ctx): Promise<Sum | undefined>;
  /** The initial states of sums that have not ended, with the number of their last record. */
  living(): Promise<readonly Kept<Sum>[]>;
  evolve(sum: Sum, fact: BufferFact): Sum;
  changeOf(sum: Sum, records: readonly Entry[]): BufferChange;
}

export type StepOf<Sum, Entry, Answer> = Transition<Sum, Entry, Answer>;

export class SumKeeper<Sum extends SumState, Entry extends { readonly kind: string }> {
  protected readonly options: KeeperOptions<Sum>;
  readonly #kind: SumKind<Sum, Entry>;
  readonly #kept = new Map<string, Kept<Sum>>();

  constructor(options: KeeperOptions<Sum>, kind: SumKind<Sum, Entry>) {
    this.options = options;
    this.#kind = kind;
  }

  /** The number in memory. */
  get held(): number {
    return this.#kept.size;
  }

  /** Copies of the sums that have not ended. */
  get living(): readonly Sum[] {
    return [...this.#kept.values()].map(({ sum }) => sum);
  }

  /** It has just been stored. */
  begun(sum: Sum): Sum {
    return this.#keep({ sum, number: 0 }).sum;
  }

  /**
   * Returns this node's copy of a sum, or undefined if it is not in the store. The copy may be outdated: `fresh` may allow a step that it
   * refuses.
   */
  async find(ctx: Ctx): Promise<Sum | undefined> {
    return (await this.#find(ctx))?.sum;
  }

  /** Returns its current state in the store. */
  async fresh(ctx: Ctx): Promise<Sum | undefined> {
    const kept = await this.#find(ctx);
    return kept && (await this.options.upToDate(kept, () => this.#catchUp(kept))).sum;
  }

  /** Reads changes that other nodes made to sums that have not ended. Returns the names of these sums. */
  async refresh(): Promise<readonly Ctx[]> {
    const living = await this.#kind.living();
    for (const { sum, number } of living) {
      const kept = this.#kept.get(toHex(sum.ctx));
      if (kept === undefined) await this.#catchUp({ sum, number: 0 });
      else if (kept.number < number) await this.#catchUp(kept);
    }
    return living.map(({ sum }) => sum.ctx);
  }

  /** The policy of the task has changed: its sums are read again. */
  async reread(task: TaskId): Promise<void> {
    const own = this.living.filter((sum) => equalBytes(sum.task, task));
    for (const { ctx } of own) this.#kept.delete(toHex(ctx));
    for (const { ctx } of own) await this.#find(ctx);
  }

  /** Takes one step. Its answer is durable. */
  async step<Answer>(
    ctx: Ctx,
    work: (sum: Sum, now: Millis) => StepOf<Sum, Entry, Answer>,
    { more = {}, fence }: StepOptions<Sum> = {},
  ): Promise<Answer | Refused> {
    const { store, onEvent, onChange } = this.options;
    const kept = await this.#find(ctx);
    if (kept === undefined) return { kind: 'refused', reason: 'buffer-unknown' };
    const advanced = await store.advance(
      ctx,
      kept.number,
      (newFacts, time) => {
        const now = millis(time);
        const before = newFacts.reduce(this.#kind.evolve, kept.sum);
        const { state, records, answer, events } = work(before, now);
        const extra = typeof more === 'function' ? more(before, state, now) : more;
        const change = records.length === 0 ? undefined : { ...extra, ...this.#kind.changeOf(state, records) };
        return { change, result: { state, answer, events, isChanged: change !== undefined } };
      },
      fence,
    );
    const { state, answer, events, isChanged } = advanced.result;
    this.#keep({ sum: state, number: advanced.number });
    for (const event of events) onEvent(event);
    if (isChanged) onChange?.(state);
    return answer;
  }

  async #find(ctx: Ctx): Promise<Kept<Sum> | undefined> {
    const kept = this.#kept.get(toHex(ctx));
    if (kept !== undefined) return kept;
    const sum = await this.#kind.begin(ctx);
    return sum && this.#catchUp({ sum, number: 0 });
  }

  async #catchUp({ sum, number }: Kept<Sum>): Promise<Kept<Sum>> {
    const facts = await this.options.store.facts(sum.ctx, number);
    return this.#keep({ sum: facts.reduce(this.#kind.evolve, sum), number: number + facts.length });
  }

  /** Answers of the database may overtake each other: the newer state is kept. */
  #keep(kept: Kept<Sum>): Kept<Sum> {
    const name = toHex(kept.sum.ctx);
    const known = this.#kept.get(name);
    if (known !== undefined && known.number > kept.number) return known;
    if (isEnded(kept.sum.status)) this.#kept.delete(name);
    else this.#kept.set(name, kept);
    this.options.onBuffer(kept.sum);
    return kept;
  }
}
