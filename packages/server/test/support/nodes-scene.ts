/** A store with a running task and one buffer, as several nodes find it. */
import { type Ctx, millis } from '@basa/protocol';
import type { StoredModel } from '../../src/store/model-store.ts';
import type { Store } from '../../src/store/store.ts';
import { buffersOf, bytes, policy, task } from './store-samples.ts';

export const AGES = 10 ** 12;

export class NodesScene {
  #opened: { readonly store: Store; readonly ctx: Ctx } | undefined;

  async open(store: Store): Promise<void> {
    await store.addTask({ task, policy, specification: '{}', state: 'running', createdAt: 5 });
    this.#opened = { store, ctx: await drawnIn(store, 1) };
  }

  get store(): Store {
    return this.#here.store;
  }

  get ctx(): Ctx {
    return this.#here.ctx;
  }

  /** The first version, made of its buffer. */
  get model(): StoredModel {
    return { task, version: 1, modelHash: bytes(8), ctx: this.ctx, blobKey: 'm', madeAt: 3, accepted: 3, dropped: 1 };
  }

  get #here(): { readonly store: Store; readonly ctx: Ctx } {
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
