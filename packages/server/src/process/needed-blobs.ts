/** Finds blobs that a server's records name and that are missing. There are none, unless something outside removed them. */
import { evolveSecureBuffer, openSecureBuffer, type Slot } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { bodyKey } from '../blobs/body-key.ts';
import { type BlobPlace, openBlobs } from '../blobs/place.ts';
import type { Store } from '../store/store.ts';

export async function missingBlobs(store: Store, place: BlobPlace): Promise<readonly string[]> {
  const missing: string[] = [];
  const blobs = await openBlobs(place);
  try {
    for (const key of await neededBlobs(store)) if ((await blobs.size(key)) === undefined) missing.push(key);
  } finally {
    await blobs.close();
  }
  return missing;
}

/** Parameters of versions, and the bodies of buffers that have not ended. */
async function neededBlobs(store: Store): Promise<readonly string[]> {
  const models = await Promise.all((await store.taskStates()).map(({ task }) => store.modelBlobs(task)));
  const bodies = (await store.livingBuffers()).map(async (stored) => {
    const facts = await store.facts(stored.ctx, 0);
    const { slots } = facts.reduce(evolveSecureBuffer, openSecureBuffer(nodeSuite, stored));
    return slots.flatMap(({ status, header }) =>
      status === 'accepted' && header !== undefined ? [bodyKey(header)] : [],
    );
  });
  return [...models.flat(), ...(await Promise.all(bodies)).flat(), ...(await shotBlobs(store))];
}

/** The bodies of uploads that wait, or are in a batch that has not ended. */
async function shotBlobs(store: Store): Promise<readonly string[]> {
  const shots = await store.wholeShots();
  return shots.map(({ name, upload }) => bodyKey({ ctx: name, slot: 0 as Slot, bodyHash: upload.header.bodyHash }));
}
