/** IndexedDB as promises: one database per device, changes durable before they count. */

/** Entries in the order of their numbers; identity and input by name. */
export const ROOM = { journal: 'journal', kept: 'kept' } as const;

export function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(ROOM.journal, { autoIncrement: true });
    request.result.createObjectStore(ROOM.kept);
  };
  return settled(request);
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
