/** Records of several kinds behind one pair of functions: the kind byte of the layout says which one it is. */
import type { Codec } from './codec.ts';

interface Kinded {
  readonly kind: string;
}

/** One codec for every kind of record, in the order of their kind bytes from `firstKind` on. */
export type RecordCodecs<Entry extends Kinded> = {
  readonly [Kind in Entry['kind']]: Codec<Omit<Extract<Entry, { kind: Kind }>, 'kind'>>;
};

const KIND_OFFSET = 2;

/** Decoding throws `DecodeError` for anything that is not one of the records. */
export function recordUnion<Entry extends Kinded>(
  name: string,
  firstKind: number,
  codecs: RecordCodecs<Entry>,
): Codec<Entry> {
  const kinds = Object.keys(codecs) as Entry['kind'][];
  const codecOf = (kind: Entry['kind']): Codec<object> => codecs[kind] as unknown as Codec<object>;
  return {
    name,
    encode: (entry) => codecOf(entry.kind).encode(entry),
    decode(bytes) {
      const kind = kinds[(bytes[KIND_OFFSET] ?? 0) - firstKind] ?? (kinds[0] as Entry['kind']);
      return { kind, ...codecOf(kind).decode(bytes) } as unknown as Entry;
    },
  };
}
