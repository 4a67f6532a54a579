/** A device in IndexedDB, behind a Web Lock. */
import type { DeviceStore } from '../device/device-store.ts';
import { change, look, openDatabase, ROOM } from './database.ts';
import { lockDevice } from './device-lock.ts';
import { createIdentity, type KeptIdentity, signerOf } from './identity.ts';

const IDENTITY = 'identity';
const INPUT = 'input';

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
    append: (entries) => change(database, ROOM.journal, (step) => addAll(step, entries)),
    replace: (entries) =>
      change(database, ROOM.journal, (step) => {
        step.objectStore(ROOM.journal).clear();
        addAll(step, entries);
      }),
    putInput: (input) => change(database, ROOM.kept, (step) => step.objectStore(ROOM.kept).put(input, INPUT)),
    input: () => look(database, ROOM.kept, (kept) => kept.get(INPUT) as IDBRequest<Uint8Array | undefined>),
    dropInput: () => change(database, ROOM.kept, (step) => step.objectStore(ROOM.kept).delete(INPUT)),
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
