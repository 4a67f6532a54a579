/** Records of several kinds behind one pair of functions: the kind byte of the layout identifies the kind. */
import { DecodeError } from '@basa/masking';
import type { Codec } from './codec.ts';

interface Kinded {
  readonly kind: string;
}

/** A codec whose bytes carry this kind byte. */
type KindedCodec<T> = Codec<T> & { readonly kind: number };

/** One codec for every kind of record. */
export type RecordCodecs<Entry extends Kinded> = {
  readonly [Kind in Entry['kind']]: KindedCodec<Omit<Extract<Entry, { kind: Kind }>, 'kind'>>;
};

const KIND_OFFSET = 2;

/** Decoding throws `DecodeError` for anything that is not one of the records. */
export function recordUnion<Entry extends Kinded>(name: string, codecs: RecordCodecs<Entry>): Codec<Entry> {
  const codecOf = (kind: Entry['kind']): KindedCodec<object> => codecs[kind] as unknown as KindedCodec<object>;
  const kinds = new Map((Object.keys(codecs) as Entry['kind'][]).map((kind) => [codecOf(kind).kind, kind]));
  return {
    name,
    encode: (entry) => codecOf(entry.kind).encode(entry),
    decode(bytes) {
      const byte = bytes[KIND_OFFSET];
      const kind = byte === undefined ? undefined : kinds.get(byte);
      if (kind === undefined) throw new DecodeError(`${name} kind`, `${byte ?? 'no byte'} names no record`);
      return { kind, ...codecOf(kind).decode(bytes) } as unknown as Entry;
    },
  };
}
