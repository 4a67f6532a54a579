/** The messages from the server to an authority about devices: no message here can hold an update. */
import type { TaskId, UserId } from './brands.ts';
import { fixed, list, u53 } from './fields.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';

/** server -> authority: asks for the devices that were revoked after this number. */
export interface RevocationRequestBody {
  readonly task: TaskId;
  readonly after: number;
}
export type RevocationRequest = RevocationRequestBody & Signature;

export const revocationRequestCodec: SignedCodec<RevocationRequestBody> = signedMessage(
  KIND.revocationRequest,
  'revocationRequest',
  { task: field.task, after: u53 },
);

/** authority -> server: of the revocations after number `after` up to number `upTo`, these are devices of the task. */
export interface RevocationsBody {
  readonly task: TaskId;
  /** The numbers are those of this life of the log. */
  readonly branch: Uint8Array;
  readonly after: number;
  readonly upTo: number;
  readonly users: readonly UserId[];
}
export type Revocations = RevocationsBody & Signature;

/** The largest number in one answer. */
export const MAX_REVOCATIONS = 1024;

export const revocationsCodec: SignedCodec<RevocationsBody> = signedMessage(KIND.revocations, 'revocations', {
  task: field.task,
  branch: fixed(16),
  after: u53,
  upTo: u53,
  users: list(MAX_REVOCATIONS, field.user),
});
