/** Shared flushes: none of them begins before the writes it covers. */
import { expect, it } from 'vitest';
import { groupFlush } from '../../src/process/durable-names.ts';

function held() {
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const flush = groupFlush(() => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })));
  return { ends, flush };
}
const settled = () => new Promise(setImmediate);

it('whoever asks while a flush is under way waits for the next one, with all others', async () => {
  const { ends, flush } = held();
  const done: string[] = [];
  void flush().then(() => done.push('first'));
  void flush().then(() => done.push('second'));
  void flush().then(() => done.push('third'));
  await settled();
  expect(ends.length).toBe(1);
  ends[0]?.resolve();
  await settled();
  expect([done, ends.length]).toEqual([['first'], 2]);
  ends[1]?.resolve();
  await settled();
  expect(done).toEqual(['first', 'second', 'third']);
  void flush();
  expect(ends.length).toBe(3);
});

it('a flush that fails says so to those it was for, and the next one is tried', async () => {
  const { ends, flush } = held();
  const first = flush().catch(String);
  const second = flush();
  ends[0]?.reject(new Error('the disk is gone'));
  expect(await first).toBe('Error: the disk is gone');
  await settled();
  ends[1]?.resolve();
  await second;
});
