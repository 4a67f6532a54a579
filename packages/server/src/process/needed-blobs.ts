/** Finds blobs that a server's records name but that are missing. This happens only if they were removed from outside. */
import { toHex } from '@basa/masking';
import { type BodyPlace, openBodies } from '../blobs/place.ts';
import { shotKey } from '../shots/intake.ts';
import type { Store } from '../store/store.ts';

export async function missingBlobs(store: Store, place: BodyPlace): Promise<readonly string[]> {
  const missing: string[] = [];
  const blobs = await openBodies(place);
  try {
    for (const key of await neededBlobs(store)) if ((await blobs.size(key)) === undefined) missing.push(key);
  } finally {
    await blobs.close();
  }
  return missing;
}

/** Parameters of versions, and bodies of uploads. */
async function neededBlobs(store: Store): Promise<readonly string[]> {
  const models = await Promise.all((await store.taskStates()).map(({ task }) => store.modelBlobs(task)));
  return [...models.flat(), ...(await shotBlobs(store))];
}

/** The bodies of uploads that wait, or are in a batch that has not ended. */
async function shotBlobs(store: Store): Promise<readonly string[]> {
  const policies = new Map((await store.tasks()).map(({ task, policy }) => [toHex(task), policy]));
  return (await store.wholeShots()).flatMap(({ name, upload }) => {
    const policy = policies.get(toHex(upload.header.task));
    return policy === undefined ? [] : [shotKey(policy, name, upload)];
  });
}
