/** The messages from the server to an authority about models and devices: no message here can hold an update. */
import type { Ctx, TaskId, UserId } from './brands.ts';
import { nested } from './codec.ts';
import { fixed, list, u53 } from './fields.ts';
import { KIND } from './kinds.ts';
import { MAX_SUMS } from './limits.ts';
import { MODEL_ENTRY_BYTES, sumsFields } from './model-log.ts';
import { field, STATEMENT_BYTES } from './named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';
import { type Vote, voteCodec } from './vote.ts';

/** server -> authority: the next version of the model has this hash and comes from these sums (none for version 0). */
export interface ModelAppendBody {
  readonly task: TaskId;
  readonly version: number;
  readonly modelHash: Uint8Array;
  readonly sums: readonly Ctx[];
  readonly spoilt: readonly Ctx[];
  /** The votes for them, for an authority that had no part in one. */
  readonly closed: readonly Vote[];
}
export type ModelAppend = ModelAppendBody & Signature;

/** Bytes that fit an append: it names sums with the votes for each of them. */
export const MODEL_APPEND_BYTES: number = MODEL_ENTRY_BYTES + 2 * MAX_SUMS * STATEMENT_BYTES;

export const modelAppendCodec: SignedCodec<ModelAppendBody> = signedMessage(KIND.modelAppend, 'modelAppend', {
  task: field.task,
  version: u53,
  modelHash: field.hash,
  ...sumsFields,
  closed: list(2 * MAX_SUMS, nested(voteCodec, STATEMENT_BYTES)),
});

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
