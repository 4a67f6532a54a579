/** The records of a buffer as bytes for a store. Deposits are stored separately, in their own table. */
import { authorityMessages, headerBytes } from '../wire/authority-messages.ts';
import type { Slot } from '../wire/brands.ts';
import { type Codec, message, nested } from '../wire/codec.ts';
import { endorsementsField } from '../wire/council.ts';
import type { FreezeReason } from '../wire/events.ts';
import { fixed, increasing, list, oneOf, text, u16, u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { MAX_SLOTS } from '../wire/limits.ts';
import { field, STATEMENT_BYTES } from '../wire/named-fields.ts';
import { recordUnion } from '../wire/record-union.ts';
import { ticketCodec } from '../wire/slot-statements.ts';
import type { BufferFact, BufferSlot } from './secure-buffer.ts';

const FREEZE_REASONS: readonly FreezeReason[] = ['resolved', 'stalled', 'expired'];
const MAX_WORDS = 200;

type SlotGiven = Omit<BufferSlot, 'status' | 'graceMs' | 'header'>;

const deposited = message<SlotGiven>(KIND.slotDeposited, 'deposited', {
  user: field.user,
  deviceKey: fixed(32),
  nonce: fixed(16),
  ticket: nested(ticketCodec, STATEMENT_BYTES),
  depositSignature: fixed(64),
});

/** Headers name at most as many void slots as a buffer may have. */
const { uploadHeader } = authorityMessages(MAX_SLOTS);

const codec: Codec<BufferFact> = recordUnion('buffer record', {
  deposited: {
    name: deposited.name,
    kind: deposited.kind,
    encode: ({ slot }) => deposited.encode(slot),
    decode: (encoded) => ({ slot: { ...deposited.decode(encoded), status: 'assigned', graceMs: 0 } }),
  },
  accepted: message(KIND.slotAccepted, 'accepted', {
    header: nested(uploadHeader, headerBytes(MAX_SLOTS)),
  }),
  dropped: message(KIND.slotDropped, 'dropped', { slot: field.slot }),
  extended: message(KIND.leasesExtended, 'extended', { byMs: u53 }),
  frozen: message(KIND.bufferFrozen, 'frozen', { accepted: increasing<Slot>(MAX_SLOTS), why: oneOf(FREEZE_REASONS) }),
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
