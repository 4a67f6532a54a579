/** The facts of a sum as bytes for a store. */
import { type Codec, message } from '../wire/codec.ts';
import { endorsementsField } from '../wire/council.ts';
import { list, text, u16, u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { MAX_SLOTS } from '../wire/limits.ts';
import { recordUnion } from '../wire/record-union.ts';
import type { SumFact } from './sum-state.ts';

const MAX_WORDS = 200;

const codec: Codec<SumFact> = recordUnion('buffer record', {
  granted: message(KIND.bufferGranted, 'granted', { votes: endorsementsField }),
  opened: message(KIND.bufferOpened, 'opened', {}),
  included: message(KIND.bufferIncluded, 'included', { version: u53 }),
  quarantined: message(KIND.bufferQuarantined, 'quarantined', { why: text(MAX_WORDS), slots: list(MAX_SLOTS, u16) }),
  aborted: message(KIND.abortRecorded, 'aborted', {}),
  unknown: message(KIND.unknownRecorded, 'unknown', {}),
});

export const encodeBufferRecord = codec.encode;
/** Throws `DecodeError` for anything that is not a record. */
export const decodeBufferRecord = codec.decode;
