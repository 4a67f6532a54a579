/** A batch: the uploads of one sum. From its vote on it is treated like a buffer whose set of updates is fixed. */
import type { Suite } from '@basa/masking';
import type { Ctx, JoinTag, TaskId, UserId } from '../brands.ts';
import { type Message, message } from '../codec.ts';
import { fixed, list, record, u53 } from '../fields.ts';
import { KIND } from '../kinds.ts';
import { MAX_BATCH } from '../limits.ts';
import { field } from '../named-fields.ts';

export interface Batch {
  readonly task: TaskId;
  /** Numbered by the server. */
  readonly number: number;
  /** The names of the uploads, in order. */
  readonly uploads: readonly Ctx[];
}

export const batchCodec: Message<Batch> = message<Batch>(KIND.batch, 'batch', {
  task: field.task,
  number: u53,
  uploads: list(MAX_BATCH, field.ctx),
});

/** Bytes that fit a batch. */
export const BATCH_BYTES: number = 64 + 32 * MAX_BATCH;

/** ctx of a batch: votes name it. */
export function batchCtxOf(suite: Suite, batch: Batch): Ctx {
  return batchCodec.hash(suite, batch) as Ctx;
}

/** The user of an upload, and its tag. */
export interface Member {
  readonly user: UserId;
  readonly joinTag: JoinTag;
}

/** A member as an authority remembers it, with its own epoch that the upload names. */
export interface ListedMember extends Member {
  readonly statement: Uint8Array;
}

export const membersField = list(
  MAX_BATCH,
  record<ListedMember>({ user: field.user, joinTag: field.joinTag, statement: field.hash }),
);

const usedLayout = message<Member & { readonly task: TaskId }>(KIND.usedUpload, 'usedUpload', {
  task: field.task,
  user: field.user,
  joinTag: field.joinTag,
});

/** The name under which an authority remembers the status of an upload. */
export function usedNameOf(suite: Suite, task: TaskId, { user, joinTag }: Member): Uint8Array {
  return usedLayout.hash(suite, { task, user, joinTag });
}

const givenLayout = message<{ task: TaskId; entry: Uint8Array; user: UserId }>(KIND.givenVersion, 'givenVersion', {
  task: field.task,
  entry: fixed(32),
  user: field.user,
});

/** The name under which an authority remembers that a device gave an update on an entry of the model log. */
export function givenNameOf(suite: Suite, task: TaskId, entry: Uint8Array, user: UserId): Uint8Array {
  return givenLayout.hash(suite, { task, entry, user });
}
