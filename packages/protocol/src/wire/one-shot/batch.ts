/** A batch: the uploads of one sum. From its vote on it is treated like a buffer whose set of updates is fixed. */
import { type Suite, toHex } from '@basa/masking';
import type { Ctx, TaskId, UserId } from '../brands.ts';
import { type Message, message } from '../codec.ts';
import { checked, list } from '../fields.ts';
import { KIND } from '../kinds.ts';
import { MAX_BATCH } from '../limits.ts';
import { field } from '../named-fields.ts';

export interface Batch {
  readonly task: TaskId;
  /** The names of the uploads, ascending: the same uploads are always the same batch. */
  readonly uploads: readonly Ctx[];
}

export const batchCodec: Message<Batch> = message<Batch>(KIND.batch, 'batch', {
  task: field.task,
  uploads: checked(list(MAX_BATCH, field.ctx), (uploads) =>
    uploads.every((name, n) => n === 0 || toHex(uploads[n - 1] as Ctx) < toHex(name)) ? undefined : 'not ascending',
  ),
});

export function batchOf(task: TaskId, uploads: readonly Ctx[]): Batch {
  const named = new Map(uploads.map((name) => [toHex(name), name]));
  return { task, uploads: [...named].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, name]) => name) };
}

/** Bytes that fit a batch. */
export const BATCH_BYTES: number = 64 + 32 * MAX_BATCH;

/** ctx of a batch: votes name it. */
export function batchCtxOf(suite: Suite, batch: Batch): Ctx {
  return batchCodec.hash(suite, batch) as Ctx;
}

const givenLayout = message<{ task: TaskId; model: Uint8Array; user: UserId }>(KIND.givenVersion, 'givenVersion', {
  task: field.task,
  model: field.hash,
  user: field.user,
});

/** The name under which an authority remembers that an update of a device on a model is in a batch. */
export function givenNameOf(suite: Suite, task: TaskId, model: Uint8Array, user: UserId): Uint8Array {
  return givenLayout.hash(suite, { task, model, user });
}
