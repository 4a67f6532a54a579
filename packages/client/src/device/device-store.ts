/** The data of a device and its durability: the port that a folder fills on Node and IndexedDB in browsers. */

/** Signs with the device's Ed25519 key, which never leaves its store. */
export interface DeviceSigner {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/**
 * One device: its key, a journal of entries (layouts of docs/wire-format.md), and one quantised input. A process that
 * has it open holds the lock of the device. It holds seeds, so only the device's owner may read it.
 */
export interface DeviceStore {
  readonly signer: DeviceSigner;
  /** Returns copies of all entries, in order; the caller overwrites them. */
  entries(): Promise<readonly Uint8Array[]>;
  /** Appends all of these entries or no entry. They are durable when the promise resolves. */
  append(entries: readonly Uint8Array[]): Promise<void>;
  /** Replaces all entries with these in one step; the old ones are overwritten if the medium allows it. */
  replace(entries: readonly Uint8Array[]): Promise<void>;
  /** Durable when the promise resolves; there is one input at a time. */
  putInput(input: Uint8Array): Promise<void>;
  /** Returns a copy, which the caller overwrites. */
  input(): Promise<Uint8Array | undefined>;
  dropInput(): Promise<void>;
  /** Releases the lock. */
  close(): Promise<void>;
}
