/** The records of a device's session and ledger, as bytes. None of them is a secret. */
import { type Codec, message, nested } from '../wire/codec.ts';
import { u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';
import { field } from '../wire/named-fields.ts';
import { SHOT_UPLOAD_BYTES, shotUploadCodec } from '../wire/one-shot/upload.ts';
import { recordUnion } from '../wire/record-union.ts';
import type { DeviceRecord } from './device.ts';

export const deviceRecordCodec: Codec<DeviceRecord> = recordUnion('device record', {
  shot: message(KIND.sessionShot, 'shot', {
    upload: nested(shotUploadCodec, SHOT_UPLOAD_BYTES),
    version: u53,
    closes: field.millis,
  }),
  acknowledged: message(KIND.sessionAcknowledged, 'acknowledged', {}),
  given: message(KIND.ledgerGiven, 'given', {
    serial: u53,
    uploads: u53,
    at: field.millis,
    task: field.task,
    model: field.hash,
  }),
});
