/** The certificate of a device: the authorities enrolled it for a task. */
import type { Suite } from '@basa/masking';
import type { TaskId, UserId } from './brands.ts';
import { type Council, type Endorsed, type EndorsedCodec, endorsedMessage, isEndorsed } from './council.ts';
import { fixed } from './fields.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';

/** The authorities enrolled this device for this task. It has no end: a revoked device is refused when its uploads are inspected. */
export interface CertificateBody {
  readonly task: TaskId;
  readonly deviceKey: Uint8Array;
}
export type Certificate = CertificateBody & Endorsed;

export const certificateCodec: EndorsedCodec<CertificateBody> = endorsedMessage(KIND.certificate, 'certificate', {
  task: field.task,
  deviceKey: fixed(32),
});

/** u = SHA-256(device public key). */
export function userIdOf(suite: Suite, deviceKey: Uint8Array): UserId {
  return suite.sha256(deviceKey) as UserId;
}

/** True if enough authorities of the task signed it, each counted once. */
export function isCertified(suite: Suite, council: Council, certificate: Certificate): boolean {
  return isEndorsed(suite, certificateCodec, council, certificate);
}
