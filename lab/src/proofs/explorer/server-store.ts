/** What the server of an exploration has on disk. */
import type { BufferRecord } from '@basa/protocol';

export interface StoredBuffer {
  readonly records: readonly BufferRecord[];
  /** Bodies by slot: there before the record that counts on them. */
  readonly bodies: ReadonlyMap<number, Uint8Array>;
}

export interface OpenedSum {
  readonly buffer: number;
  readonly version: number;
  readonly sum: readonly number[];
}

export interface ServerLocal {
  readonly buffers: readonly StoredBuffer[];
  /** Sums that were opened and are durable before their model's hash is logged, and those that were applied. */
  readonly drafts: readonly OpenedSum[];
  readonly models: readonly OpenedSum[];
  readonly forgot: number;
}

export function stored(local: ServerLocal, buffer: number): StoredBuffer {
  return local.buffers[buffer] as StoredBuffer;
}

export function withRecords(local: ServerLocal, buffer: number, records: readonly BufferRecord[]): ServerLocal {
  if (records.length === 0) return local;
  const buffers = local.buffers.map((kept, n) =>
    n === buffer ? { ...kept, records: [...kept.records, ...records] } : kept,
  );
  return { ...local, buffers };
}

export function withBody(local: ServerLocal, buffer: number, slot: number, body: Uint8Array): ServerLocal {
  const buffers = local.buffers.map((kept, n) =>
    n === buffer ? { ...kept, bodies: new Map(kept.bodies).set(slot, body) } : kept,
  );
  return { ...local, buffers };
}
