/** A store with a running task and one batch, as several nodes find it. */
import type { Ctx } from '@basa/protocol';
import type { Places } from '../../src/admission/places.ts';
import type { FreshModel, SumsOfVersion } from '../../src/store/models.ts';
import type { Store } from '../../src/store/store.ts';
import { batchIn, bytes, policy, task } from './store-samples.ts';

export const AGES = 10 ** 12;

interface Opened {
  readonly store: Store;
  readonly placeTable: Places;
  readonly ctx: Ctx;
}

export class NodesScene {
  #opened: Opened | undefined;

  async open({ store, placeTable }: Pick<Opened, 'store' | 'placeTable'>): Promise<void> {
    await store.addTask({ task, policy, specification: '{}', state: 'running', createdAt: 5 });
    this.#opened = { store, placeTable, ctx: await batchIn(store, 1) };
  }

  get store(): Store {
    return this.#here.store;
  }

  get placeTable(): Places {
    return this.#here.placeTable;
  }

  get ctx(): Ctx {
    return this.#here.ctx;
  }

  get sums(): SumsOfVersion {
    return { sums: [this.ctx], spoilt: [] };
  }

  /** The first version, made of its batch. */
  get model(): FreshModel {
    return { task, version: 1, modelHash: bytes(8), blobKey: 'm', madeAt: 3, accepted: 3, dropped: 1 };
  }

  get #here(): Opened {
    if (this.#opened === undefined) throw new Error('the scene is not open');
    return this.#opened;
  }
}
