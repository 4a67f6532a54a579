/** What the logs of the authorities say of buffers and models, for checks from outside. */
import { ByteReader, toHex } from '@basa/masking';
import { type AuthorityRecord, ctxOf, decodeAuthorityRecord, type SignedDescriptor } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

export interface LoggedBuffers {
  /** Every buffer that was drawn, by its name. */
  readonly drawn: ReadonlyMap<string, SignedDescriptor>;
  /** The version that was made of a buffer. */
  readonly versions: ReadonlyMap<string, number>;
  /** Who got keys of a slot, by the name of the buffer and the slot. */
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Of all authorities: one that was away misses some. */
export function buffersOfLogs(logs: readonly Uint8Array[]): LoggedBuffers {
  const drawn = new Map<string, SignedDescriptor>();
  const versions = new Map<string, number>();
  const holders = new Map<string, Set<string>>();
  for (const record of logs.flatMap((log) => [...recordsOf(log)])) {
    if (record.kind === 'buffer-drawn') drawn.set(toHex(ctxOf(nodeSuite, record.descriptor)), record.descriptor);
    if (record.kind === 'model-appended')
      for (const ctx of record.entry.sums) versions.set(toHex(ctx), record.entry.version);
    if (record.kind === 'key-issued') {
      const slot = `${toHex(record.ctx)} ${record.slot}`;
      holders.set(slot, (holders.get(slot) ?? new Set()).add(toHex(record.user)));
    }
  }
  return { drawn, versions, holders };
}

function* recordsOf(log: Uint8Array): Generator<AuthorityRecord> {
  const reader = new ByteReader(log);
  for (let length = reader.u32('length'); length > 0; length = reader.u32('length'))
    yield decodeAuthorityRecord(reader.bytes('record', length));
}
