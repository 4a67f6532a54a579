/** What a node remembers of good uploads: so many and no more, and nothing of an epoch that has ended. */
import type { Ctx, ExaminedUpload, JoinTag, TaskId, UserId } from '@basa/protocol';
import { expect, it } from 'vitest';
import { ExaminedUploads } from '../../src/masks/examined-uploads.ts';

const fill = (value: number): Uint8Array => new Uint8Array(32).fill(value);

/** A view of a larger buffer, as a decoder gives it. */
function examined(name: number, epoch: number): ExaminedUpload {
  const user = new Uint8Array(100_000).subarray(7, 39) as UserId;
  const header = {
    task: fill(0) as TaskId,
    joinTag: fill(name) as JoinTag,
    user,
    version: 0,
    entry: fill(0),
    epochs: [{ authority: 0, statement: fill(epoch) }],
    bodyHash: fill(0),
    partsHash: fill(0),
    signature: new Uint8Array(64),
  };
  return { kind: 'examined', name: fill(name) as Ctx, header, notAfter: 1, guards: [] };
}

it('forgets the oldest first, and one that was inspected again last', () => {
  const uploads = new ExaminedUploads(3);
  for (const name of [1, 2, 3, 1, 4]) uploads.add(examined(name, 0));
  expect(uploads.size).toBe(3);
  expect([1, 2, 3, 4].map((name) => uploads.get(fill(name) as Ctx) !== undefined)).toEqual([true, false, true, true]);
});

it('keeps no request alive by a header, and nothing of an epoch that has ended', () => {
  const uploads = new ExaminedUploads();
  for (const name of [1, 2, 3]) uploads.add(examined(name, name % 2));
  expect(uploads.get(fill(1) as Ctx)?.header.user.buffer.byteLength).toBeLessThan(1000);
  uploads.keepOnly((statement) => statement[0] === 0);
  expect([uploads.size, uploads.get(fill(2) as Ctx)?.name]).toEqual([1, fill(2)]);
});
