/** A store with a running task and one buffer, as several nodes find it. */
import { type Ctx, millis } from '@basa/protocol';
import type { Tickets } from '../../src/admission/tickets.ts';
import type { StoredModel, SumsOfVersion } from '../../src/store/models.ts';
import type { Store } from '../../src/store/store.ts';
import { buffersOf, bytes, policy, task } from './store-samples.ts';

export const AGES = 10 ** 12;

interface Opened {
  readonly store: Store;
  readonly tickets: Tickets;
  readonly ctx: Ctx;
}

export class NodesScene {
  #opened: Opened | undefined;

  async open({ store, tickets }: Pick<Opened, 'store' | 'tickets'>): Promise<void> {
    await store.addTask({ task, policy, specification: '{}', state: 'running', createdAt: 5 });
    this.#opened = { store, tickets, ctx: await drawnIn(store, 1) };
  }

  get store(): Store {
    return this.#here.store;
  }

  get tickets(): Tickets {
    return this.#here.tickets;
  }

  get ctx(): Ctx {
    return this.#here.ctx;
  }

  get sums(): SumsOfVersion {
    return { sums: [this.ctx], spoilt: [] };
  }

  /** The first version, made of its buffer. */
  get model(): StoredModel {
    return { task, version: 1, modelHash: bytes(8), blobKey: 'm', madeAt: 3, accepted: 3, dropped: 1 };
  }

  get #here(): Opened {
    if (this.#opened === undefined) throw new Error('the scene is not open');
    return this.#opened;
  }

  drawn(id: number): Promise<Ctx> {
    return drawnIn(this.store, id);
  }

  /** The last node was alive this long ago. */
  async setLastAlive(agoMs: number): Promise<void> {
    const at = new Uint8Array(8);
    new DataView(at.buffer).setBigUint64(0, BigInt((await this.store.now()) - agoMs));
    await this.store.setNote('alive-at', at);
  }
}

async function drawnIn(store: Store, id: number): Promise<Ctx> {
  const made = buffersOf(id, { expiry: millis(AGES * 10) });
  await store.addBuffer({ ...made, task, drawnAt: id });
  return made.ctx;
}
