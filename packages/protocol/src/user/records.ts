/** The records of a device's session and ledger, as bytes. They hold seeds: only the device's owner may read them. */
import { SEED_BYTES } from '@basa/masking';
import { certificateCodec } from '../wire/certificate.ts';
import { type Codec, message, nested } from '../wire/codec.ts';
import { fixed, list, long, record, short, u8, u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { field, STATEMENT_BYTES } from '../wire/named-fields.ts';
import { epochNamesField } from '../wire/one-shot/epoch.ts';
import { MAX_PARTS } from '../wire/one-shot/policy.ts';
import { SEALED_PARTS_BYTES, shotHeaderFields } from '../wire/one-shot/upload.ts';
import { policyField } from '../wire/policy.ts';
import { recordUnion } from '../wire/record-union.ts';
import type { DeviceRecord } from './device.ts';

const DELTA_ID = 64;

const deltaId = short(DELTA_ID);

export const deviceRecordCodec: Codec<DeviceRecord> = recordUnion('device record', {
  shot: message(KIND.sessionShot, 'shot', {
    policy: policyField,
    certificate: nested(certificateCodec, STATEMENT_BYTES),
    deltaId,
    header: record(shotHeaderFields),
    seeds: list(MAX_PARTS, fixed(SEED_BYTES)),
    sealed: long(SEALED_PARTS_BYTES),
  }),
  acknowledged: message(KIND.sessionAcknowledged, 'acknowledged', {}),
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
