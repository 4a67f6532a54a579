/** The one-shot mode of one task: accepts uploads, has them inspected, makes batches, and reports the status of each upload. */
import {
  type BasaEvent,
  type Ctx,
  isRefused,
  type OneShotPolicy,
  type RefusalReason,
  type Refused,
  type ServerPorts,
  type Slot,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import type { TaskAuthorities } from '../authority/authorities.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import type { PendingShots, SmallBody, StoredShot } from '../store/shots.ts';
import type { Fence } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import { Batcher, type Coming } from './batcher.ts';
import type { BatchKeeper } from './batches.ts';
import { Epochs } from './epochs.ts';
import { Inspector, KnownVoters } from './inspector.ts';
import { type NewShot, ShotIntake } from './intake.ts';

export interface ShotTaskOptions {
  readonly task: TaskId;
  readonly policy: TaskPolicy & { readonly oneShot: OneShotPolicy };
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly batches: BatchKeeper;
  readonly ports: ServerPorts;
  readonly watch: ServerWatch;
  /** The clock of this node. */
  readonly clock: () => number;
  onEvent(event: BasaEvent): void;
  onTrouble(what: string, error: unknown): void;
}

export interface ShotTaskParts {
  readonly authorities: TaskAuthorities;
  readonly models: ModelKeeper;
  readonly coming: Coming;
  readonly stallMs: number | undefined;
}

/** The status of an upload, according to the server. */
export interface ShotFate {
  readonly fate: 'waiting' | 'included' | 'quarantined' | 'refused' | 'version-over' | 'unknown';
  /** Its batch, and the version made from it. */
  readonly ctx?: Ctx;
  readonly version?: number;
  readonly reason?: RefusalReason;
}

export class ShotTask {
  readonly #options: ShotTaskOptions;
  readonly #models: ModelKeeper;
  readonly epochs: Epochs;
  readonly intake: ShotIntake;
  readonly inspector: Inspector;
  readonly #batcher: Batcher;
  readonly #voters: KnownVoters;

  constructor(options: ShotTaskOptions, { authorities, models, coming, stallMs }: ShotTaskParts) {
    this.#options = options;
    this.#models = models;
    const parts = { ...options, authorities, models };
    this.epochs = new Epochs(parts);
    this.#voters = new KnownVoters(options.clock);
    const { epochs } = this;
    const voters = this.#voters;
    this.intake = new ShotIntake({ ...parts, epochs });
    this.inspector = new Inspector({ ...parts, epochs, voters });
    this.#batcher = new Batcher({ ...parts, coming, stallMs, voters });
  }

  /** Uploads in no batch, as of the last look of this node. */
  get pending(): PendingShots | undefined {
    return this.#batcher.pending;
  }

  /** Has waiting uploads inspected, and makes batches of the good ones. */
  async look(fence: Fence): Promise<void> {
    this.#voters.forgetOld();
    do {
      while (await this.inspector.look(fence));
    } while (await this.#batcher.look(fence));
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
    const { task, watch, onEvent } = this.#options;
    watch.met({ ctx: name, task, version });
    onEvent({ kind: 'upload-accepted', ctx: name, slot: 0 as Slot, voids: 0 });
  }

  /** Undefined for an upload that is not known here. */
  async fateOf(name: Ctx): Promise<ShotFate | undefined> {
    const { store, task } = this.#options;
    const shot = await store.shot(task, name);
    if (shot === undefined) return undefined;
    if (shot.status === 'over') return { fate: 'version-over' };
    if (shot.status === 'refused') return { fate: 'refused', reason: shot.reason as RefusalReason }; // it always has one
    return shot.ctx === undefined ? { fate: 'waiting' } : this.#fateIn(shot.ctx);
  }

  async #fateIn(ctx: Ctx): Promise<ShotFate> {
    const status = (await this.#options.batches.fresh(ctx))?.status;
    if (status === 'quarantined' || status === 'unknown') return { fate: status, ctx };
    const version = status === 'included' ? (await this.#models.of(ctx))?.version : undefined;
    return version === undefined ? { fate: 'waiting' } : { fate: 'included', ctx, version };
  }
}
