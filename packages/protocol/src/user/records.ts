/** The records of a device's session and ledger, as bytes. They hold seeds: only the device's owner may read them. */
import { SEED_BYTES } from '@basa/masking';
import { SELF_NAME_BYTES } from '../wire/authority-messages.ts';
import type { Slot } from '../wire/brands.ts';
import { certificateCodec } from '../wire/certificate.ts';
import { type Codec, message, nested } from '../wire/codec.ts';
import { DESCRIPTOR_BYTES, type Descriptor, descriptorCodec, withPolicy } from '../wire/descriptor.ts';
import { slotKeysField } from '../wire/drawn-buffer.ts';
import { type Field, fixed, increasing, list, long, record, short, u8, u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { MAX_SLOTS } from '../wire/limits.ts';
import { field, STATEMENT_BYTES } from '../wire/named-fields.ts';
import { epochNamesField } from '../wire/one-shot/epoch.ts';
import { MAX_PARTS } from '../wire/one-shot/policy.ts';
import { SEALED_PARTS_BYTES, shotHeaderFields } from '../wire/one-shot/upload.ts';
import { heldPolicyField } from '../wire/policy.ts';
import { reasonField } from '../wire/reason-field.ts';
import { recordUnion } from '../wire/record-union.ts';
import { receiptCodec, ticketCodec } from '../wire/slot-statements.ts';
import { DEEPEST } from '../wire/user-messages.ts';
import type { DeviceRecord } from './device.ts';

/** Bytes that fit a sealed seed of any engine. */
const SEALED = 1024;
const DELTA_ID = 64;

const seed = fixed(SEED_BYTES);
const seeds = list(MAX_SLOTS, seed);
const sealed = short(SEALED);
const sealedSeed = { commitment: field.hash, sealed };
const deltaId = short(DELTA_ID);

/** The signed bytes, after the pinned policy, so that a session continues after a crash with the same values. */
const signedField = nested(descriptorCodec, DESCRIPTOR_BYTES);
const descriptorField: Field<Descriptor> = {
  write(writer, descriptor) {
    heldPolicyField.write(writer, descriptor);
    signedField.write(writer, descriptor);
  },
  read: (reader, name) => withPolicy(heldPolicyField.read(reader, `${name}.policy`), signedField.read(reader, name)),
};

export const deviceRecordCodec: Codec<DeviceRecord> = recordUnion('device record', {
  prepared: message(KIND.sessionPrepared, 'prepared', {
    descriptor: descriptorField,
    slotKeys: slotKeysField,
    certificate: nested(certificateCodec, STATEMENT_BYTES),
    nonce: fixed(16),
    deltaId,
    inputDigest: field.hash,
    edges: seeds,
    entries: list(MAX_SLOTS, record(sealedSeed)),
  }),
  slotted: message(KIND.sessionSlotted, 'slotted', {
    ticket: nested(ticketCodec, STATEMENT_BYTES),
    inbox: list(
      MAX_SLOTS,
      record({ joinTag: field.joinTag, root: field.root, path: list(DEEPEST, field.hash), ...sealedSeed }),
    ),
    ephemeralSecret: seed,
  }),
  frozen: message(KIND.sessionFrozen, 'frozen', {
    receipt: nested(receiptCodec, STATEMENT_BYTES),
    voids: increasing<Slot>(MAX_SLOTS),
    selfName: short(SELF_NAME_BYTES),
    bodyHash: field.hash,
    self: seed,
    earlier: seeds,
    parts: record({ self: sealed, backups: list(MAX_SLOTS, sealed) }),
  }),
  shot: message(KIND.sessionShot, 'shot', {
    policy: heldPolicyField,
    certificate: nested(certificateCodec, STATEMENT_BYTES),
    deltaId,
    header: record(shotHeaderFields),
    seeds: list(MAX_PARTS, seed),
    sealed: long(SEALED_PARTS_BYTES),
  }),
  acknowledged: message(KIND.sessionAcknowledged, 'acknowledged', {}),
  released: message(KIND.sessionReleased, 'released', {}),
  abandoned: message(KIND.sessionAbandoned, 'abandoned', { reason: reasonField }),
  entered: message(KIND.ledgerEntered, 'entered', { ctx: field.ctx }),
  committed: message(KIND.ledgerCommitted, 'committed', {
    deltaId,
    ctx: field.ctx,
    joinTag: field.joinTag,
    version: u53,
    epochs: epochNamesField,
  }),
  freed: message(KIND.ledgerReleased, 'freed', { deltaId }),
  epoch: message(KIND.ledgerEpoch, 'epoch', { authority: u8, number: u53 }),
  seen: message(KIND.ledgerSeen, 'seen', { version: u53, modelHash: field.hash }),
});
