/** Tasks, uploads and batches that tests of stores write. */
import type { Ctx, JoinTag, TaskId, UserId } from '@basa/protocol';
import { POLICY_DEFAULTS, type TaskPolicy } from '@basa/protocol/policy';
import { modelNameOf, type ShotUpload } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import type { FreshModel, StoredModel } from '../../src/store/models.ts';
import type { Store } from '../../src/store/store.ts';

export const bytes = (value: number, length = 32): Uint8Array => new Uint8Array(length).fill(value);
export const task = bytes(1) as TaskId;
export const userOf = (n: number): UserId => bytes(n + 40) as UserId;

export const policy: TaskPolicy = {
  ...POLICY_DEFAULTS,
  name: bytes(1, 4),
  authorities: [bytes(6)],
  engine: 1,
  bufferSize: 4,
  minimum: 3,
  dimension: 10,
  modulus: { kind: 'ring', bits: 32 },
  level: 1024,
  clip: 1,
  staleness: { kind: 'constant' },
  maxStaleness: 10,
  manifestHash: bytes(3),
  serverKey: bytes(5),
  uploadLeaseMs: 1000,
};

const signature = bytes(3, 64);

export function uploadOf(id: number, change: Partial<ShotUpload['header']> = {}): ShotUpload {
  const certificate = { task, deviceKey: bytes(id), endorsements: [] };
  const header = {
    task,
    joinTag: bytes(id, 16) as JoinTag,
    user: bytes(id) as UserId,
    model: bytes(5),
    epochs: [{ authority: 0, statement: bytes(6) }],
    partsHash: bytes(8),
    signature,
    ...change,
  };
  return { certificate, header, bodyBytes: 9, bodyCrc: 7 };
}

/** A version as the store returns it. */
export function stored(made: FreshModel, serial: number): StoredModel {
  return { ...made, serial, name: modelNameOf(nodeSuite, { ...made, serial }), isForgotten: false };
}

/** The name of an upload. */
export const nameOf = (id: number): Ctx => bytes(100 + id) as Ctx;

/** Adds a batch of this many new uploads to a store. */
export async function batchIn(store: Store, number: number, count = 2): Promise<Ctx> {
  const uploads = Array.from({ length: count }, (_, n) => nameOf(20 * number + n));
  for (const [n, name] of uploads.entries()) {
    const user = userOf(20 * number + n);
    const upload = uploadOf(20 * number + n, { user });
    await store.beginShot(task, { name, upload, version: 2, votes: { first: 40, last: 50 } });
    await store.acceptShot(task, name, user);
  }
  const added = await store.addBatch(nodeSuite, { task, uploads });
  if (added === undefined) throw new Error('the batch was not added');
  return added.ctx;
}
