/** What an authority's log says of buffers and models, for checks from outside. */
import { ByteReader, toHex } from '@basa/masking';
import type { AuthorityRecord, Descriptor } from '@basa/protocol';
import { ctxOf, decodeAuthorityRecord } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

export interface LoggedBuffers {
  /** Every buffer that was drawn, by its name. */
  readonly drawn: ReadonlyMap<string, Descriptor>;
  /** The version that was made of a buffer. */
  readonly versions: ReadonlyMap<string, number>;
}

export function buffersOfLog(log: Uint8Array): LoggedBuffers {
  const drawn = new Map<string, Descriptor>();
  const versions = new Map<string, number>();
  for (const record of recordsOf(log)) {
    if (record.kind === 'buffer-drawn') drawn.set(toHex(ctxOf(nodeSuite, record.descriptor)), record.descriptor);
    if (record.kind === 'model-appended' && record.entry.version > 0)
      versions.set(toHex(record.entry.ctx), record.entry.version);
  }
  return { drawn, versions };
}

function* recordsOf(log: Uint8Array): Generator<AuthorityRecord> {
  const reader = new ByteReader(log);
  for (let length = reader.u32('length'); length > 0; length = reader.u32('length'))
    yield decodeAuthorityRecord(reader.bytes('record', length));
}
