/** The problems that the verdict of a crash run in the one-shot mode reports. */
import type { AuditedBatch } from '@basa/testkit/processes/results.ts';
import { expect, it } from 'vitest';
import { batchProblems } from '../../src/trials/verdict.ts';

/** Uploads are written as "user tag". */
function batch(ctx: string, model: string, uploads: readonly string[]): AuditedBatch {
  const named = uploads.map((text) => {
    const [user = '', joinTag = ''] = text.split(' ');
    return { name: text, user, joinTag, model, version: 0 };
  });
  return { ctx, task: 'a task', uploads: named };
}

/** The batches are versions 1, 2, ... with this many updates. */
function problemsOf(batches: readonly AuditedBatch[], counted: readonly number[]): readonly string[] {
  const final = new Map(batches.map((one) => [one.ctx, one]));
  const versions = new Map(batches.map(({ ctx }, n) => [ctx, n + 1]));
  const counts = [new Int32Array(2), ...counted.map((count) => Int32Array.of(count, 0))];
  return batchProblems({ final, versions, counts });
}

it('batches with distinct uploads, and a spoilt one, are right', () => {
  const batches = [batch('a', 'one', ['u 1', 'v 2']), batch('b', 'two', ['u 3', 'v 4'])];
  expect(problemsOf(batches, [2, 0])).toEqual([]);
});

it.each([
  ['an upload in two batches', [batch('a', 'one', ['u 1']), batch('b', 'two', ['u 1'])], [1, 1], 'upload u 1'],
  ['a device twice on one model', [batch('a', 'one', ['u 1']), batch('b', 'one', ['u 2'])], [1, 1], 'given u one'],
  [
    'a version with too few updates',
    [batch('a', 'one', ['u 1', 'v 2'])],
    [1],
    'does not hold the updates of its batches',
  ],
] as const)('%s is wrong', (_, batches, counted, words) => {
  expect(problemsOf(batches, counted).join()).toContain(words);
});
