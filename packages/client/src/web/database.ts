/** IndexedDB as promises: one database per device, changes durable before they count. */
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
export function change(
  database: IDBDatabase,
  rooms: string | string[],
  work: (step: IDBTransaction) => void,
): Promise<void> {
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
