/** The one-shot mode of one task: accepts uploads, has them inspected, makes batches, and reports the status of each upload. */
import { type Ctx, isRefused, type RefusalReason, type Refused } from '@basa/protocol';
import type { PendingShots, SmallBody, StoredShot } from '../store/shots.ts';
import type { Fence } from '../store/sql.ts';
import { Batcher } from './batcher.ts';
import type { OneShotContext } from './context.ts';
import { Epochs } from './epochs.ts';
import { Inspector, KnownVoters, type ShotContext } from './inspector.ts';
import { type NewShot, ShotIntake } from './intake.ts';

/** The status of an upload, according to the server. */
export interface ShotFate {
  readonly fate: 'waiting' | 'included' | 'quarantined' | 'refused' | 'version-over' | 'unknown';
  /** Its batch, and the version made from it. */
  readonly ctx?: Ctx;
  readonly version?: number;
  readonly reason?: RefusalReason;
}

export class ShotTask {
  readonly context: ShotContext;
  readonly intake: ShotIntake;
  readonly #inspector: Inspector;
  readonly #batcher: Batcher;

  constructor(task: OneShotContext) {
    this.context = { ...task, epochs: new Epochs(task), voters: new KnownVoters(task.clock) };
    this.intake = new ShotIntake(this.context);
    this.#inspector = new Inspector(this.context);
    this.#batcher = new Batcher(this.context);
  }

  get epochs(): Epochs {
    return this.context.epochs;
  }

  /** Uploads in no batch, as of the last look of this node. */
  get pending(): PendingShots | undefined {
    return this.#batcher.pending;
  }

  /** Has waiting uploads inspected, and makes batches of the good ones. */
  async look(fence: Fence): Promise<void> {
    this.context.voters.forgetOld();
    do {
      while (await this.#inspector.look(fence));
    } while (await this.#batcher.look(fence));
  }

  /** Removes what may be forgotten: epochs, and uploads before this time that were in no batch. */
  async tidy(before: number): Promise<void> {
    await this.epochs.forget();
    await this.context.store.forgetShots(this.context.task, before);
  }

  /** The body of an upload is whole and durable. Returns the reason if the upload was ended in the meantime. */
  async accept(shot: StoredShot): Promise<Refused | undefined> {
    const ended = await this.intake.accept(shot);
    if (ended === undefined) this.#tellAccepted(shot);
    return ended;
  }

  /** The same for a small upload that is not recorded yet. */
  async take(shot: NewShot, body: SmallBody): Promise<StoredShot | Refused> {
    const taken = await this.intake.take(shot, body);
    if (!isRefused(taken) && taken.reason === undefined) this.#tellAccepted(shot);
    return taken;
  }

  #tellAccepted({ name, version }: NewShot): void {
    const { task, onEvent } = this.context;
    onEvent({ kind: 'upload-accepted', ctx: name }, { task, version });
  }

  /** Undefined for an upload that is not known here. */
  async fateOf(name: Ctx): Promise<ShotFate | undefined> {
    const { store, task } = this.context;
    const shot = await store.shot(task, name);
    if (shot === undefined) return undefined;
    if (shot.status === 'over') return { fate: 'version-over' };
    if (shot.status === 'refused') return { fate: 'refused', reason: shot.reason as RefusalReason }; // it always has one
    return shot.ctx === undefined ? { fate: 'waiting' } : this.#fateIn(shot.ctx);
  }

  async #fateIn(ctx: Ctx): Promise<ShotFate> {
    const status = (await this.context.batches.find(ctx))?.status;
    if (status === 'quarantined' || status === 'unknown') return { fate: status, ctx };
    const version = status === 'included' ? (await this.context.models.of(ctx))?.version : undefined;
    return version === undefined ? { fate: 'waiting' } : { fate: 'included', ctx, version };
  }
}
