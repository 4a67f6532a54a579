/** The devices of a task: certificates, enrolment tokens, revocations, and what a successor task is told about them. */
import { ascii, equalBytes, type Signer, type Suite } from '@basa/masking';
import { isSigned, type Signature, type SignedCodec, signedMessage, signStatement } from './codec.ts';
import {
  type Council,
  type Endorsed,
  type EndorsedCodec,
  endorse,
  endorsedMessage,
  indexOf,
  isEndorsed,
} from './council.ts';
import { field, fixed, flag, KIND, list, type Millis, record, type TaskId, type UserId, u32 } from './fields.ts';
import { oneShotOf, vouchersOf } from './one-shot-policy.ts';
import { policyProblem, type TaskPolicy, taskIdOf } from './policy.ts';
import { type Refused, refused } from './refusals.ts';

/** The authorities enrolled this device for this task. It has no end: a revoked device is refused when its uploads are inspected. */
export interface CertificateBody {
  readonly task: TaskId;
  readonly deviceKey: Uint8Array;
}
export type Certificate = CertificateBody & Endorsed;

export const Certificate: EndorsedCodec<CertificateBody> = endorsedMessage(KIND.certificate, 'certificate', {
  task: field.task,
  deviceKey: fixed(32),
});

/** u = SHA-256(device public key). */
export function userIdOf(suite: Suite, deviceKey: Uint8Array): UserId {
  return suite.sha256(deviceKey) as UserId;
}

/** True if enough authorities of the task signed it, each counted once. */
function isCertified(suite: Suite, council: Council, certificate: Certificate): boolean {
  return isEndorsed(suite, Certificate, council, certificate);
}

/** The server's checks of a certificate, without asking the authority. */
export function certificateProblem(
  suite: Suite,
  of: Council & { readonly task: TaskId },
  certificate: Certificate,
): Refused | undefined {
  const isOfTask = equalBytes(certificate.task, of.task) && isCertified(suite, of, certificate);
  return isOfTask ? undefined : refused('certificate-invalid');
}

export interface AuthorityPorts {
  readonly suite: Suite;
  readonly signer: Signer;
}

/** An authority answers only for tasks that name it, and whose sums cannot wrap. */
export function taskProblem({ signer }: Pick<AuthorityPorts, 'signer'>, policy: TaskPolicy): Refused | undefined {
  const isMember = indexOf(policy, signer.publicKey) !== undefined;
  const problem = policyProblem(policy) ?? (isMember ? undefined : 'the policy does not name this authority');
  return problem === undefined ? undefined : refused('policy-invalid', { detail: problem });
}

/** A device gets the same certificate however often it asks, until it is revoked. */
export function certify(
  { signer }: Pick<AuthorityPorts, 'signer'>,
  council: Council,
  body: CertificateBody,
  isRevoked: boolean,
): Certificate | Refused {
  return isRevoked ? refused('revoked') : endorse(Certificate, council, signer, body);
}

/** All devices that this authority has revoked, in any order. */
export function signRevocations({ signer }: Pick<AuthorityPorts, 'signer'>, users: readonly UserId[]): Revocations {
  return signStatement(Revocations, signer, { users });
}

export const ENROLMENT_TOKEN_BYTES = 32;

const SALT = ascii('basa enrolment');

/**
 * The application makes the token of a device. An authority sees only the proof for its own key, so that it can spend it at no other
 * authority, and its owner registers the hash of the proof. proof = HKDF-SHA-256(token, salt "basa enrolment", info = public key of the authority), 32 bytes.
 */
export function enrolmentProof(suite: Suite, token: Uint8Array, authorityKey: Uint8Array): Uint8Array {
  return suite.hkdf({ secret: token, salt: SALT, info: authorityKey, length: 32 });
}

/** The hash that the owner of this authority registers. */
export function enrolmentHash(suite: Suite, token: Uint8Array, authorityKey: Uint8Array): Uint8Array {
  return suite.sha256(enrolmentProof(suite, token, authorityKey));
}

/** authority -> servers: all devices that it has revoked. */
interface RevocationsBody {
  readonly users: readonly UserId[];
}
export type Revocations = RevocationsBody & Signature;

/** The most that an authority lists: of more, the newest. */
export const MAX_REVOCATIONS = 65_535;

export const Revocations: SignedCodec<RevocationsBody> = signedMessage(KIND.revocations, 'revocations', {
  users: list(MAX_REVOCATIONS, field.user),
});

export interface ExportedDevice {
  readonly deviceKey: Uint8Array;
  readonly isRevoked: boolean;
  /** Of a private task: the number of its batches. */
  readonly participations: number;
}

/** The devices of a task, as one of its authorities tells them to the authorities of the task that succeeds it. */
export interface DeviceExportBody {
  readonly task: TaskId;
  readonly successor: TaskId;
  readonly at: Millis;
  readonly devices: readonly ExportedDevice[];
}
export type DeviceExport = DeviceExportBody & Signature;

/** The largest number of devices in one message. */
export const MAX_EXPORTED = 1000;

export const DeviceExport: SignedCodec<DeviceExportBody> = signedMessage(KIND.deviceExport, 'deviceExport', {
  task: field.task,
  successor: field.task,
  at: field.millis,
  devices: list(MAX_EXPORTED, record<ExportedDevice>({ deviceKey: fixed(32), isRevoked: flag, participations: u32 })),
});

/** Returns the index of the authority of the predecessor that signed the export for this task. */
export function exporterOf(
  suite: Suite,
  predecessor: TaskPolicy,
  successor: TaskId,
  told: DeviceExport,
): { readonly kind: 'exporter'; readonly authority: number } | Refused {
  const isForIt = equalBytes(told.task, taskIdOf(suite, predecessor)) && equalBytes(told.successor, successor);
  const authority = predecessor.authorities.findIndex((key) => isSigned(suite, DeviceExport, told, key));
  return isForIt && authority >= 0 ? { kind: 'exporter', authority } : refused('export-invalid');
}

/** The number of authorities of the predecessor whose word counts: one of them is honest. */
export function exportersNeeded(predecessor: TaskPolicy): number {
  return vouchersOf(oneShotOf(predecessor));
}

/** A device of the predecessor, as its authorities tell. `unknown`: too few of them agree. */
export type ImportedDevice = 'enrolled' | 'revoked' | 'unknown';

/** By the number of authorities that told of it, and of those that revoked it; revoked by enough of them wins. */
export function importedDevice(
  needed: number,
  { told, revoked }: { readonly told: number; readonly revoked: number },
): ImportedDevice {
  if (revoked >= needed) return 'revoked';
  return told - revoked >= needed ? 'enrolled' : 'unknown';
}
