/** The certificate of a device: the authorities enrolled it for a task. */
import type { Suite } from '@basa/masking';
import type { Millis, TaskId, UserId } from './brands.ts';
import { type Council, type Endorsed, type EndorsedCodec, endorsedMessage, isEndorsed } from './council.ts';
import { fixed } from './fields.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';

/** The authorities enrolled this device for this task, until then. */
export interface CertificateBody {
  readonly task: TaskId;
  readonly deviceKey: Uint8Array;
  /** Not used in any check: it tells when the certificate is due for renewal. */
  readonly issuedAt: Millis;
  readonly notAfter: Millis;
}
export type Certificate = CertificateBody & Endorsed;

const { task, millis } = field;

export const certificateCodec: EndorsedCodec<CertificateBody> = endorsedMessage(KIND.certificate, 'certificate', {
  task,
  deviceKey: fixed(32),
  issuedAt: millis,
  notAfter: millis,
});

/** In the last third of its life: its device asks for another, and the authority issues one. */
export function isDueForRenewal({ issuedAt, notAfter }: CertificateBody, now: Millis): boolean {
  return now >= notAfter - (notAfter - issuedAt) / 3;
}

/** u = SHA-256(device public key). */
export function userIdOf(suite: Suite, deviceKey: Uint8Array): UserId {
  return suite.sha256(deviceKey) as UserId;
}

/** True if enough authorities of the task signed it, each counted once. */
export function isCertified(suite: Suite, council: Council, certificate: Certificate): boolean {
  return isEndorsed(suite, certificateCodec, council, certificate);
}
