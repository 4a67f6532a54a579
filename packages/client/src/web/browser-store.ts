/** A device in IndexedDB, behind a Web Lock. */
import type { DeviceStore } from '../device/device-store.ts';
import { change, look, openDatabase, ROOM } from './database.ts';
import { lockDevice } from './device-lock.ts';
import { createIdentity, type KeptIdentity, signerOf } from './identity.ts';

const IDENTITY = 'identity';
const BODY = 'body';

/** Creates the device if it does not exist. Call `navigator.storage.persist()` first, or the browser may delete it. */
export async function openBrowserStore(name: string): Promise<DeviceStore> {
  const unlock = await lockDevice(`basa-device:${name}`);
  try {
    return await openLocked(await openDatabase(`basa-device:${name}`), unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openLocked(database: IDBDatabase, unlock: () => void): Promise<DeviceStore> {
  return {
    signer: await signerOf(await identityIn(database)),
    entries: () => look(database, ROOM.journal, (journal) => journal.getAll() as IDBRequest<Uint8Array[]>),
    append: (entries, body) =>
      change(database, [ROOM.journal, ROOM.kept], (step) => {
        addAll(step, entries);
        if (body !== undefined) step.objectStore(ROOM.kept).put(body, BODY);
      }),
    replace: (entries) =>
      change(database, ROOM.journal, (step) => {
        step.objectStore(ROOM.journal).clear();
        addAll(step, entries);
      }),
    body: () => look(database, ROOM.kept, (kept) => kept.get(BODY) as IDBRequest<Uint8Array | undefined>),
    dropBody: () => change(database, ROOM.kept, (step) => step.objectStore(ROOM.kept).delete(BODY)),
    async close() {
      database.close();
      unlock();
    },
  };
}

function addAll(step: IDBTransaction, entries: readonly Uint8Array[]): void {
  for (const entry of entries) step.objectStore(ROOM.journal).add(entry);
}

async function identityIn(database: IDBDatabase): Promise<KeptIdentity> {
  const known = await look(database, ROOM.kept, (kept) => kept.get(IDENTITY) as IDBRequest<KeptIdentity | undefined>);
  if (known !== undefined) return known;
  const made = await createIdentity();
  await change(database, ROOM.kept, (step) => step.objectStore(ROOM.kept).put(made, IDENTITY));
  return made;
}
