/** Ends uploads that can be in no batch: their devices get the reason when they ask, and their bodies are removed. */
import type { RefusalReason, TaskId } from '@basa/protocol';
import type { BlobStore } from '../blobs/blob-store.ts';
import { bodiesOf } from '../blobs/body-key.ts';
import type { Fence } from '../store/leases.ts';
import type { ShotStatus, StoredShot } from '../store/shots.ts';
import type { Store } from '../store/store.ts';

export interface EndTools {
  readonly task: TaskId;
  readonly store: Store;
  readonly blobs: BlobStore;
}

export interface ShotEnd {
  readonly to: 'refused' | 'over';
  readonly reason: RefusalReason;
}

export async function endShots(
  { task, store, blobs }: EndTools,
  shots: readonly Pick<StoredShot, 'name' | 'status'>[],
  end: ShotEnd,
  fence: Fence | undefined,
): Promise<void> {
  const names = shots.map(({ name }) => name);
  for (const from of new Set<ShotStatus>(shots.map(({ status }) => status)))
    await store.decideShots(task, names, { from, ...end }, fence);
  // Not the body of an upload that another request accepted or decided in the meantime.
  const ended = (await store.shotsNamed(task, names)).filter(({ reason }) => reason !== undefined);
  await blobs.removeBelow(...ended.map(({ name }) => bodiesOf(name)));
}
