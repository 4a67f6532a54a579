/** A node's memory of good uploads: a bounded number, and nothing of an epoch that has ended. */
import type { Ctx, ExaminedUpload, JoinTag, TaskId, UserId } from '@basa/protocol';
import { expect, it } from 'vitest';
import { ExaminedUploads } from '../../src/masks/mask-threads.ts';

const fill = (value: number): Uint8Array => new Uint8Array(32).fill(value);

/** A view of a larger buffer, as a decoder gives it. */
function examined(name: number, epoch: number, task = 0): ExaminedUpload {
  const user = new Uint8Array(100_000).subarray(7, 39) as UserId;
  const header = {
    task: fill(task) as TaskId,
    joinTag: fill(name).slice(16) as JoinTag,
    user,
    model: fill(0),
    epochs: [{ authority: 0, statement: fill(epoch) }],
    bodyHash: fill(0),
    partsHash: fill(0),
    signature: new Uint8Array(64),
  };
  return { kind: 'examined', name: fill(name) as Ctx, header, guards: [] };
}

const has = (uploads: ExaminedUploads, name: number, task = 0): boolean =>
  uploads.get(fill(task) as TaskId, fill(name) as Ctx) !== undefined;

it('forgets the oldest upload of a task first, and an upload that was inspected again last', () => {
  const uploads = new ExaminedUploads();
  uploads.add(examined(9, 0, 1), 3); // of another task
  for (const name of [1, 2, 3, 1, 4]) uploads.add(examined(name, 0), 3);
  expect([1, 2, 3, 4].map((name) => has(uploads, name))).toEqual([true, false, true, true]);
  expect([has(uploads, 9, 1), has(uploads, 9, 0)]).toEqual([true, false]);
});

it('keeps no request alive by a header, and nothing of an epoch that has ended', () => {
  const uploads = new ExaminedUploads();
  for (const name of [1, 2, 3]) uploads.add(examined(name, name % 2), 3);
  expect(uploads.get(fill(0) as TaskId, fill(1) as Ctx)?.header.user.buffer.byteLength).toBeLessThan(1000);
  uploads.keepOnly((statement) => statement[0] === 0);
  expect([1, 2, 3].map((name) => has(uploads, name))).toEqual([false, true, false]);
});
