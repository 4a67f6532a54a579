/** The records of a device's session and ledger, as bytes. They hold seeds: only the device's owner may read them. */
import { SEED_BYTES } from '@basa/masking';
import { certificateCodec } from '../wire/certificate.ts';
import { type Codec, message, nested } from '../wire/codec.ts';
import { fixed, list, long, record, u8, u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { field, STATEMENT_BYTES } from '../wire/named-fields.ts';
import { MAX_PARTS } from '../wire/one-shot/policy.ts';
import { SEALED_PARTS_BYTES, shotHeaderFields } from '../wire/one-shot/upload.ts';
import { policyField } from '../wire/policy.ts';
import { recordUnion } from '../wire/record-union.ts';
import type { DeviceRecord } from './device.ts';

export const deviceRecordCodec: Codec<DeviceRecord> = recordUnion('device record', {
  shot: message(KIND.sessionShot, 'shot', {
    policy: policyField,
    certificate: nested(certificateCodec, STATEMENT_BYTES),
    header: record(shotHeaderFields),
    seeds: list(MAX_PARTS, fixed(SEED_BYTES)),
    sealed: long(SEALED_PARTS_BYTES),
  }),
  acknowledged: message(KIND.sessionAcknowledged, 'acknowledged', {}),
  given: message(KIND.ledgerGiven, 'given', { version: u53, uploads: u53 }),
  epoch: message(KIND.ledgerEpoch, 'epoch', { authority: u8, number: u53 }),
  seen: message(KIND.ledgerSeen, 'seen', { version: u53, modelHash: field.hash }),
});
