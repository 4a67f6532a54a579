/** The rows of a server's tables as what the store hands out. */
import { type Ctx, decodePolicy, descriptorCodec, modelEntryCodec, type TaskId, withPolicy } from '@basa/protocol';
import { column, type Row } from '@basa/service';
import type { StoredBuffer } from './buffer-store.ts';
import type { StoredModel } from './model-store.ts';
import type { StoredTask, TaskState } from './task-store.ts';

export function readTaskState(row: Row): Pick<StoredTask, 'task' | 'state' | 'why'> {
  const why = column.optional(row, 'why', column.text);
  return {
    task: column.bytes(row, 'task') as TaskId,
    state: column.text(row, 'state') as TaskState,
    ...(why !== undefined && { why }),
  };
}

export function readTask(row: Row): StoredTask {
  return {
    ...readTaskState(row),
    policy: decodePolicy(column.bytes(row, 'policy')),
    specification: column.text(row, 'specification'),
    createdAt: column.number(row, 'created_at'),
  };
}

/** Buffers with the policy of their task, as `readBuffer` reads them. */
export const BUFFERS = 'buffers b JOIN tasks t ON t.task = b.task';
export const BUFFER_COLUMNS = 'b.*, t.policy';

export function readBuffer(row: Row): StoredBuffer {
  return {
    ctx: column.bytes(row, 'ctx') as Ctx,
    task: column.bytes(row, 'task') as TaskId,
    descriptor: withPolicy(
      decodePolicy(column.bytes(row, 'policy')),
      descriptorCodec.decode(column.bytes(row, 'descriptor')),
    ),
    slotKeys: column.optional(row, 'slot_keys', column.bytes) ?? new Uint8Array(),
    drawnAt: column.number(row, 'drawn_at'),
  };
}

export function readModel(row: Row): StoredModel {
  const stepKey = column.optional(row, 'step_key', column.text);
  const entry = column.optional(row, 'entry', column.bytes);
  const accuracy = column.optional(row, 'accuracy', column.number);
  const loss = column.optional(row, 'loss', column.number);
  const meanAge = column.optional(row, 'mean_age', column.number);
  const metrics = column.optional(row, 'metrics', column.text);
  return {
    task: column.bytes(row, 'task') as TaskId,
    version: column.number(row, 'version'),
    modelHash: column.bytes(row, 'model_hash'),
    ctx: column.bytes(row, 'ctx') as Ctx,
    blobKey: column.text(row, 'blob_key'),
    madeAt: column.number(row, 'made_at'),
    accepted: column.number(row, 'accepted'),
    dropped: column.number(row, 'dropped'),
    ...(stepKey !== undefined && { stepKey }),
    ...(column.number(row, 'forgotten') !== 0 && { isForgotten: true }),
    ...(entry !== undefined && { entry: modelEntryCodec.decode(entry) }),
    ...(meanAge !== undefined && { meanAge }),
    ...(metrics !== undefined && { metrics: JSON.parse(metrics) as Record<string, number> }),
    ...(accuracy !== undefined && { accuracy }),
    ...(loss !== undefined && { loss }),
  };
}
