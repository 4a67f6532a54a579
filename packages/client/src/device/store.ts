/** The data of a device and its durability: the port that a folder fills on Node, IndexedDB in browsers, and memory in tests. */

/** Signs with the device's Ed25519 key, which never leaves its store. */
export interface DeviceSigner {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/**
 * One device: its key, a journal of entries (layouts of docs/wire-format.md), and the body of the upload under way. A process that has it
 * open holds the lock of the device. Only the key is secret.
 */
export interface DeviceStore {
  readonly signer: DeviceSigner;
  /** Returns all entries, in order. */
  entries(): Promise<readonly Uint8Array[]>;
  /** Appends all of these entries and keeps the body, or does nothing. All of it is durable when the promise resolves. */
  append(entries: readonly Uint8Array[], body?: Uint8Array): Promise<void>;
  /** Replaces all entries with these in one step. */
  replace(entries: readonly Uint8Array[]): Promise<void>;
  /** There is one body at a time. */
  body(): Promise<Uint8Array | undefined>;
  dropBody(): Promise<void>;
  /** Releases the lock. */
  close(): Promise<void>;
}

/** A device that crashes loses its session and its ledger with this store: do not use it for real updates. */
export function inMemoryStoreForTests(signer: DeviceSigner): DeviceStore {
  let kept: readonly Uint8Array[] = [];
  let keptBody: Uint8Array | undefined;
  const copies = (entries: readonly Uint8Array[]): Uint8Array[] => entries.map((entry) => entry.slice());
  return {
    signer,
    entries: async () => copies(kept),
    append: async (entries, body) => {
      kept = [...kept, ...copies(entries)];
      keptBody = body?.slice() ?? keptBody;
    },
    replace: async (entries) => {
      kept = copies(entries);
    },
    body: async () => keptBody?.slice(),
    dropBody: async () => {
      keptBody = undefined;
    },
    close: async () => {},
  };
}
