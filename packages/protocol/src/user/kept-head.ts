/** A head that a device has seen of an authority's log, as it keeps it: several authorities have logs of their own. */
import { type Codec, message, nested } from '../wire/codec.ts';
import { fixed } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { type Head, headCodec } from '../wire/model-log.ts';
import { STATEMENT_BYTES } from '../wire/named-fields.ts';

export interface KeptHead {
  readonly authorityKey: Uint8Array;
  readonly head: Head;
}

export const keptHeadCodec: Codec<KeptHead> = message<KeptHead>(KIND.keptHead, 'keptHead', {
  authorityKey: fixed(32),
  head: nested(headCodec, STATEMENT_BYTES),
});
