/** The store of chunks: small named objects, written whole or not at all, visible to every node once written. */
export interface ChunkStore {
  /** Durable, and visible to all later reads. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  get(name: string): Promise<Uint8Array | undefined>;
  /** Names that begin with `prefix`, in their order. */
  list(prefix: string): Promise<readonly string[]>;
  /** Missing ones are not an error. */
  remove(names: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
