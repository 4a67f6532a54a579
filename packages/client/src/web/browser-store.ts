/** A device in IndexedDB, behind a Web Lock. */
import type { DeviceSigner, DeviceStore } from '../device/store.ts';
import { StoreError } from '../errors.ts';

/** Entries in the order of their numbers; identity and body by name. */
export const ROOM = { journal: 'journal', kept: 'kept' } as const;

/** 1 was the format up to version 0.3. */
const FORMAT = 2;

export function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, FORMAT);
  let isOld = false;
  request.onupgradeneeded = ({ oldVersion }) => {
    isOld = oldVersion > 0;
    if (isOld) return request.transaction?.abort();
    request.result.createObjectStore(ROOM.journal, { autoIncrement: true });
    request.result.createObjectStore(ROOM.kept);
  };
  return settled(request).catch((error: unknown) => {
    throw isOld
      ? new StoreError(
          `${name} belongs to a device of BASA 0.3 or older, and version 1.0 starts afresh; delete the data of this site in the browser, then join with a new token`,
        )
      : error;
  });
}

/** Writes all changes of one step or no change. Resolves when they are durable. */
function change(database: IDBDatabase, rooms: string | string[], work: (step: IDBTransaction) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const step = database.transaction(rooms, 'readwrite', { durability: 'strict' });
    step.oncomplete = () => resolve();
    step.onabort = () => reject(step.error ?? new Error('the browser did not store a step of the device'));
    try {
      work(step);
    } catch (error) {
      reject(error);
      step.abort(); // otherwise the browser keeps the changes made before the failure
    }
  });
}

export function look<T>(
  database: IDBDatabase,
  room: string,
  question: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  return settled(question(database.transaction(room, 'readonly').objectStore(room)));
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Resolves with a function that releases the lock; rejects if another tab has it. */
function lockDevice(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const held = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) {
        throw new StoreError(`the device ${name} is in use by another tab; give each client its own identity`);
      }
      return new Promise<void>((release) => resolve(release));
    });
    held.catch(reject);
  });
}

/** The stored form in IndexedDB, which stores a key without showing it. */
type KeptIdentity =
  | { readonly kind: 'webcrypto'; readonly privateKey: CryptoKey; readonly publicKey: Uint8Array }
  | { readonly kind: 'noble'; readonly secretKey: Uint8Array };

const ED25519 = 'Ed25519';

export async function createIdentity(): Promise<KeptIdentity> {
  try {
    const pair = (await crypto.subtle.generateKey(ED25519, false, ['sign', 'verify'])) as CryptoKeyPair;
    const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
    return { kind: 'webcrypto', privateKey: pair.privateKey, publicKey };
  } catch {
    return { kind: 'noble', secretKey: crypto.getRandomValues(new Uint8Array(32)) };
  }
}

export async function signerOf(identity: KeptIdentity): Promise<DeviceSigner> {
  if (identity.kind === 'noble') {
    const { createWebSigner } = await import('./cryptography.ts');
    return createWebSigner(identity.secretKey);
  }
  const { privateKey, publicKey } = identity;
  return {
    publicKey,
    sign: async (message) =>
      new Uint8Array(await crypto.subtle.sign(ED25519, privateKey, message as Uint8Array<ArrayBuffer>)),
  };
}

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
