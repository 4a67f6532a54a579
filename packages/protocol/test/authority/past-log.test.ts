/** A draft's log is the log up to its end, and what was drafted after it. */
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { DraftLog, LogInMemory, modelHashName, modelName, recordNames } from '../../src/authority/past-log.ts';
import type { AuthorityRecord } from '../../src/authority/records.ts';
import { type Ctx, millis, type TaskId } from '../../src/index.ts';

const ctx = new Uint8Array(32).fill(7) as Ctx;
const [given, dead]: AuthorityRecord[] = [
  { kind: 'epoch-ended', statement: ctx, how: 'given-up', at: millis(1) },
  { kind: 'epoch-ended', statement: ctx, how: 'dead', at: millis(2) },
];
const hash = (n: number) => new Uint8Array(32).fill(n);

describe('the log of a draft', () => {
  it('has the hashes of the log up to its end, and its own after that', () => {
    const log = new LogInMemory(nodeSuite);
    log.add(given as AuthorityRecord, hash(1));
    const draft = new DraftLog(nodeSuite, log, 1);
    draft.add(dead as AuthorityRecord, hash(2));
    expect([0, 1, 2, 3].map((sequence) => draft.hashAt(sequence))).toEqual([
      log.hashAt(0),
      hash(1),
      hash(2),
      undefined,
    ]);
    expect(draft.named(ctx)).toEqual([given, dead]);
    expect([0, 1, 2].map((after) => draft.named(ctx, after))).toEqual([[given, dead], [dead], []]);
    expect(log.named(ctx)).toEqual([given]);
    expect(log.named(hash(9))).toEqual([]);
  });
});

describe('a model in the log', () => {
  it('is found by its version, its hash, and every sum that it names', () => {
    const task = new Uint8Array(32) as TaskId;
    const names = (version: number, sums: readonly Ctx[], spoilt: readonly Ctx[] = []) => {
      const entry = { task, version, modelHash: hash(3), sums, spoilt } as unknown as Extract<
        AuthorityRecord,
        { kind: 'model-appended' }
      >['entry'];
      return recordNames(nodeSuite, { kind: 'model-appended', entry } as AuthorityRecord);
    };
    expect(names(0, [])).toEqual([modelName(task, 0), modelHashName(task, hash(3))]);
    const other = new Uint8Array(32).fill(9) as Ctx;
    expect(names(1, [ctx], [other])).toEqual([modelName(task, 1), modelHashName(task, hash(3)), ctx, other]);
  });
});
