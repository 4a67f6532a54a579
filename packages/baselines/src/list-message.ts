/** Lists without a count: as long as their message, and never longer than there are numbers of two bytes. */
import { ByteReader, DecodeError } from '@basa/masking';

/** At most one entry for each number of two bytes. */
export const MAX_ENTRIES = 65_536;

export function listOf<Entry>(bytes: Uint8Array, name: string, read: (reader: ByteReader) => Entry): Entry[] {
  const reader = new ByteReader(bytes);
  const list: Entry[] = [];
  while (reader.remaining > 0) {
    if (list.length === MAX_ENTRIES) throw new DecodeError(name, 'too long');
    list.push(read(reader));
  }
  return list;
}
