/** Where chunks lie: small named things, written whole or not at all, seen by every node once written. */
export interface ChunkStore {
  /** Durable, and seen by whoever asks afterwards. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  get(name: string): Promise<Uint8Array | undefined>;
  /** Names that begin with `prefix`, in their order. */
  list(prefix: string): Promise<readonly string[]>;
  /** Missing ones are no error. */
  remove(names: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
