/**
 * Runs the steps of batches over the store: locked, durable, then answered. It keeps copies of batches that have not ended in memory; if
 * several nodes share the store, a copy may be old, and every step reads the new facts.
 */

import { toHex } from '@basa/masking';
import {
  type BasaEvent,
  type Batch,
  type Ctx,
  evolveSum,
  type LiveBuffer,
  openShotBatch,
  type Refused,
  type ServerPorts,
  type ShotBatch,
  type SumFact,
  type SumStep,
  type TaskPolicy,
} from '@basa/protocol';
import type { UpToDate } from '../nodes/nodes.ts';
import { type BatchChange, isEnded } from '../store/batches.ts';
import type { ShotGroup } from '../store/shots.ts';
import type { Fence } from '../store/sql.ts';
import type { Store } from '../store/store.ts';

interface Kept {
  readonly batch: ShotBatch;
  /** The number of its facts. */
  readonly number: number;
}

export interface StepOptions {
  /** The parts of the step's transaction besides its facts. */
  readonly more?: Omit<BatchChange, 'facts' | 'status'>;
  /** The lease under which the step is taken. */
  readonly fence?: Fence | undefined;
}

export interface KeeperOptions {
  readonly store: Store;
  readonly ports: ServerPorts;
  readonly upToDate: UpToDate;
  onEvent(event: BasaEvent): void;
  /** Called with every batch that was read or changed. */
  onBatch(batch: ShotBatch): void;
  /** Called with every batch that this node has changed. */
  onChange?(batch: ShotBatch): void;
}

export class BatchKeeper {
  readonly #options: KeeperOptions;
  readonly #kept = new Map<string, Kept>();

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** The number in memory. */
  get held(): number {
    return this.#kept.size;
  }

  /** Copies of the batches that have not ended. */
  get living(): readonly ShotBatch[] {
    return [...this.#kept.values()].map(({ batch }) => batch);
  }

  /** Undefined if one of its uploads no longer exists, or is in another batch. */
  async add(batch: Batch, fence: Fence | undefined): Promise<ShotBatch | undefined> {
    const { store, ports, onEvent, onChange } = this.#options;
    const ctx: Ctx | undefined = await store.addBatch(ports.suite, batch, fence);
    const added = ctx && (await this.find(ctx));
    if (added === undefined) return undefined;
    onEvent({ kind: 'buffer-frozen', ctx: added.ctx, accepted: added.users.length });
    onChange?.(added);
    return added;
  }

  /**
   * Returns this node's copy of a batch, or undefined if it is not in the store. The copy may be outdated: `fresh` may allow a step that it
   * refuses.
   */
  async find(ctx: Ctx): Promise<ShotBatch | undefined> {
    return (await this.#find(ctx))?.batch;
  }

  /** Returns its current state in the store. */
  async fresh(ctx: Ctx): Promise<ShotBatch | undefined> {
    const kept = await this.#find(ctx);
    return kept && (await this.#options.upToDate(kept, () => this.#catchUp(kept))).batch;
  }

  /** Reads changes that other nodes made to batches that have not ended. Returns the names of these batches. */
  async refresh(): Promise<readonly Ctx[]> {
    const living = await this.#options.store.livingBatches();
    for (const { number, ...stored } of living) {
      const kept = this.#kept.get(toHex(stored.ctx));
      if (kept === undefined) await this.#catchUp({ batch: openShotBatch(stored.policy, stored), number: 0 });
      else if (kept.number < number) await this.#catchUp(kept);
    }
    return living.map(({ ctx }) => ctx);
  }

  /** Takes one step. Its answer is durable. */
  async step<Answer>(
    ctx: Ctx,
    work: (batch: ShotBatch) => SumStep<ShotBatch, Answer>,
    { more = {}, fence }: StepOptions = {},
  ): Promise<Answer | Refused> {
    const { store, onEvent, onChange } = this.#options;
    const kept = await this.#find(ctx);
    if (kept === undefined) return { kind: 'refused', reason: 'buffer-unknown' };
    const advanced = await store.advance(
      ctx,
      kept.number,
      (newFacts) => {
        const { state, records, answer, events } = work(evolved(kept.batch, newFacts));
        const change = records.length === 0 ? undefined : { ...more, facts: records, status: state.status };
        return { change, result: { state, answer, events, isChanged: change !== undefined } };
      },
      fence,
    );
    const { state, answer, events, isChanged } = advanced.result;
    this.#keep({ batch: state, number: advanced.number });
    for (const event of events) onEvent(event);
    if (isChanged) onChange?.(state);
    return answer;
  }

  async #find(ctx: Ctx): Promise<Kept | undefined> {
    const kept = this.#kept.get(toHex(ctx));
    if (kept !== undefined) return kept;
    const stored = await this.#options.store.batch(ctx);
    return stored && this.#catchUp({ batch: openShotBatch(stored.policy, stored), number: 0 });
  }

  async #catchUp({ batch, number }: Kept): Promise<Kept> {
    const facts = await this.#options.store.facts(batch.ctx, number);
    return this.#keep({ batch: evolved(batch, facts), number: number + facts.length });
  }

  /** Answers of the database may overtake each other: the newer state is kept. */
  #keep(kept: Kept): Kept {
    const name = toHex(kept.batch.ctx);
    const known = this.#kept.get(name);
    if (known !== undefined && known.number > kept.number) return known;
    if (isEnded(kept.batch.status)) this.#kept.delete(name);
    else this.#kept.set(name, kept);
    this.#options.onBatch(kept.batch);
    return kept;
  }
}

function evolved(batch: ShotBatch, facts: readonly SumFact[]): ShotBatch {
  return facts.reduce<ShotBatch>(evolveSum, batch);
}

/** A batch accepts no more devices, so it does not expire. */
export function liveBatch({ ctx, rules, status, users }: ShotBatch): LiveBuffer {
  const { version, bufferSize, minimum } = rules;
  return { ctx: toHex(ctx), status, version: Math.floor(version), bufferSize, minimum, accepted: users.length };
}

/** Uploads on one version that wait for enough others: the batch that they will be in. */
export function fillingBatch({ bufferSize, minimum }: TaskPolicy, { version, waiting, good }: ShotGroup): LiveBuffer {
  const ctx = `filling-${version}`;
  const accepted = Math.min(waiting + good, bufferSize);
  return { ctx, status: 'filling', version, bufferSize, minimum, accepted };
}
