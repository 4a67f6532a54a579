/** The log as a file for auditors: for each record a u32 length and the record, then a u32 zero and the signed head. */
import { headCodec } from '@basa/protocol';
import type { AuthorityStore } from '../store/store.ts';
import type { DurableAuthority } from './durable-authority.ts';

const PAGE = 256;

/** Yields the records up to the current head, without later ones. */
export async function* logChunks(store: AuthorityStore, authority: DurableAuthority): AsyncGenerator<Buffer> {
  const head = await authority.look((core) => core.head());
  for (let from = 1; from <= head.sequence; from += PAGE) {
    const most = Math.min(PAGE, head.sequence - from + 1);
    const page = await store.transaction((tables) => tables.records(from, most));
    yield Buffer.concat(page.flatMap(({ bytes }) => [lengthOf(bytes), bytes]));
  }
  yield Buffer.concat([Buffer.alloc(4), headCodec.encode(head)]);
}

function lengthOf(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return length;
}
