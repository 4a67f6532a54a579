/** Has the sum of a closed buffer opened by a worker, from what the store holds of it. */
import type { ReleasedKey, SecureBuffer } from '@basa/protocol';
import { descriptorCodec, encodeBufferRecord } from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import { bodyKey } from './body-key.ts';
import type { Store } from './store/store.ts';
import type { OpenedSum, WorkResult, WorkTask } from './work/tasks.ts';

export interface OpeningTools {
  readonly store: Store;
  readonly pool: WorkerPool<WorkTask, WorkResult>;
  readonly blobFolder: string;
}

/** The keys are used up by this. */
export async function openSumOf(
  { store, pool, blobFolder }: OpeningTools,
  { ctx, descriptor, accepted, slots }: SecureBuffer,
  keys: readonly ReleasedKey[],
): Promise<OpenedSum> {
  const facts = await store.facts(ctx, 0);
  const bodies = accepted.map((slot) => {
    const header = slots[slot]?.header;
    if (header === undefined) throw new Error(`slot ${slot} is accepted without a header`);
    return { slot, key: bodyKey(header) };
  });
  const task: WorkTask = {
    kind: 'open-sum',
    descriptor: descriptorCodec.encode(descriptor),
    facts: facts.map(encodeBufferRecord),
    deposits: await store.deposits(ctx),
    keys,
    blobFolder,
    bodies,
  };
  try {
    return (await pool.run(task)) as OpenedSum;
  } finally {
    for (const { key } of keys) key.fill(0);
  }
}
