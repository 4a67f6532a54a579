/** The log of a task's models, and the head of an authority's own log. */
import type { Ctx, TaskId } from './brands.ts';
import { nested } from './codec.ts';
import { type Endorsed, type EndorsedCodec, endorsedMessage } from './council.ts';
import { type Field, fixed, list, record, u53 } from './fields.ts';
import { KIND } from './kinds.ts';
import { MAX_SUMS } from './limits.ts';
import { field, STATEMENT_BYTES } from './named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';

/** w^t of a task has this hash; version t > 0 comes from the sums of these buffers or batches, each of which makes one version. */
export interface ModelEntryBody {
  readonly task: TaskId;
  readonly version: number;
  readonly modelHash: Uint8Array;
  readonly sums: readonly Ctx[];
  /** Sums that were closed as well, and left out because they are spoilt. */
  readonly spoilt: readonly Ctx[];
  readonly previous: Uint8Array;
}
export type ModelEntry = ModelEntryBody & Endorsed;

/** The position of the authority's own log: shown back to it, it reveals a rolled-back authority. */
export interface HeadBody {
  /** The life of the log: a new one begins when it was found rolled back. */
  readonly branch: Uint8Array;
  readonly sequence: number;
  /** The number of devices revoked so far: a server that knows fewer asks for the list. */
  readonly revocations: number;
  readonly hash: Uint8Array;
}
export type Head = HeadBody & Signature;

/**
 * This entry was the newest of its task at the time of the request with this nonce; `head` is the position of the
 * authority's log.
 */
export interface NewestModelBody {
  /** The sender's nonce, so that a stored answer cannot pass as a new one. */
  readonly nonce: Uint8Array;
  readonly entry: ModelEntry;
  readonly head: HeadBody;
}
export type NewestModel = NewestModelBody & Signature;

const { ctx, hash, task } = field;

export const sumsFields = { sums: list(MAX_SUMS, ctx), spoilt: list(MAX_SUMS, ctx) };

/** Bytes that fit an entry: it may name many sums. */
export const MODEL_ENTRY_BYTES: number = STATEMENT_BYTES + 2 * 32 * MAX_SUMS;

export const modelEntryCodec: EndorsedCodec<ModelEntryBody> = endorsedMessage(KIND.modelEntry, 'modelEntry', {
  task,
  version: u53,
  modelHash: hash,
  ...sumsFields,
  previous: hash,
});

const headFields = { branch: fixed(16), sequence: u53, revocations: u53, hash };
export const headField: Field<HeadBody> = record(headFields);
export const headCodec: SignedCodec<HeadBody> = signedMessage(KIND.head, 'head', headFields);

export const newestModelCodec: SignedCodec<NewestModelBody> = signedMessage(KIND.newestModel, 'newestModel', {
  nonce: fixed(16),
  entry: nested(modelEntryCodec, MODEL_ENTRY_BYTES),
  head: headField,
});
