/** What a device keeps, and how durably: the port that a folder fills on Node and IndexedDB in browsers. */

/** Signs with the device's Ed25519 key, which stays where it is kept. */
export interface DeviceSigner {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/**
 * One device: its key, a journal of entries (layouts of docs/wire-format.md), and one quantised input. Whoever has it
 * open holds the lock of the device. Holds seeds: only the device's owner may read it.
 */
export interface DeviceStore {
  readonly signer: DeviceSigner;
  /** All entries, in order: copies, which whoever asked for them overwrites. */
  entries(): Promise<readonly Uint8Array[]>;
  /** All of these or none, durable when the promise resolves. */
  append(entries: readonly Uint8Array[]): Promise<void>;
  /** These instead of all there were, in one step; what they replace is overwritten where the medium allows it. */
  replace(entries: readonly Uint8Array[]): Promise<void>;
  /** Durable when the promise resolves; there is one input at a time. */
  putInput(input: Uint8Array): Promise<void>;
  /** A copy, which whoever asked for it overwrites. */
  input(): Promise<Uint8Array | undefined>;
  dropInput(): Promise<void>;
  /** Gives the lock back. */
  close(): Promise<void>;
}
