/** Keeps the batches of the one-shot mode. */
import {
  type Batch,
  type BufferFact,
  type Ctx,
  evolveSum,
  openShotBatch,
  type ShotBatch,
  type SumFact,
} from '@basa/protocol';
import type { Fence } from '../store/leases.ts';
import { type KeeperOptions, SumKeeper } from './sum-keeper.ts';

export class BatchKeeper extends SumKeeper<ShotBatch, SumFact> {
  constructor(options: KeeperOptions<ShotBatch>) {
    const { store } = options;
    super(options, {
      async begin(ctx) {
        const stored = await store.batch(ctx);
        return stored && openShotBatch(stored.policy, stored);
      },
      async living() {
        const living = await store.livingBatches();
        return living.map(({ number, ...stored }) => ({
          sum: openShotBatch(stored.policy, stored),
          number,
        }));
      },
      evolve: (batch, fact) => evolveSum(batch, sumFactOf(fact)),
      changeOf: (state, records) => ({ facts: records, status: state.status }),
    });
  }

  /** Undefined if one of its uploads no longer exists, or is in another batch. */
  async add(batch: Batch, fence: Fence | undefined): Promise<ShotBatch | undefined> {
    const { store, ports, onEvent, onChange } = this.options;
    const ctx: Ctx | undefined = await store.addBatch(ports.suite, batch, fence);
    const added = ctx && (await this.find(ctx));
    if (added === undefined) return undefined;
    onEvent({ kind: 'buffer-frozen', ctx: added.ctx, accepted: added.users.length, why: 'resolved' });
    onChange?.(added);
    return added;
  }
}

/** No other facts are ever written for a batch. */
function sumFactOf(fact: BufferFact): SumFact {
  switch (fact.kind) {
    case 'deposited':
    case 'accepted':
    case 'dropped':
    case 'extended':
    case 'frozen':
      throw new Error(`a batch has no record ${fact.kind}`);
    default:
      return fact;
  }
}
