/** SQLite's commits are flushed away from the thread that answers: nobody hears of one before it is durable. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openDatabase, type SqlDatabase, sqliteDatabase } from '../../src/index.ts';

const OPTIONS = { application: 'server', format: 20, tables: ['CREATE TABLE a (x INTEGER)'] } as const;
let folder = '';
let opened: ReturnType<typeof openDatabase>;
let database: SqlDatabase;
/** The flushes that are under way. */
const flushes: { resolve(): void; reject(error: Error): void }[] = [];
let isHeld = true;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'basa-flush-'));
  const some = await open(join(folder, 'some'), 'w');
  const files = Object.getPrototypeOf(some) as FileHandle;
  await some.close();
  isHeld = true;
  flushes.length = 0;
  vi.spyOn(files, 'datasync').mockImplementation(() =>
    isHeld ? new Promise((resolve, reject) => flushes.push({ resolve, reject })) : Promise.resolve(),
  );
  opened = openDatabase(join(folder, 'data'), OPTIONS);
  database = sqliteDatabase(opened, Date.now);
});
afterEach(async () => {
  isHeld = false;
  for (const { resolve } of flushes) resolve();
  await database.close().catch(() => undefined);
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const insert = (x: number): Promise<unknown> => database.query('INSERT INTO a VALUES (?)', x);
const numbers = async (): Promise<readonly unknown[]> => (await database.query('SELECT x FROM a')).map(({ x }) => x);
/** Waits until this many flushes are under way, or have been. */
const flushed = (count: number) =>
  vi.waitFor(() => expect(flushes.length).toBe(count), { timeout: 600_000, interval: 5 });
const moments = () => new Promise((resolve) => setTimeout(resolve, 20));

it('a transaction is over when the log with its commit is flushed; those that came meanwhile share the next commit and flush', async () => {
  const exec = vi.spyOn(opened.db, 'exec');
  const over: number[] = [];
  const first = insert(1).then(() => over.push(1));
  await flushed(1);
  const others: Promise<unknown>[] = [];
  for (const n of [2, 3, 4]) {
    others.push(insert(n).then(() => over.push(n)));
    await moments();
  }
  expect([over, flushes.length]).toEqual([[], 1]);
  flushes[0]?.resolve();
  await first;
  await flushed(2);
  expect(over).toEqual([1]);
  flushes[1]?.resolve();
  await Promise.all(others);
  expect([over, flushes.length]).toEqual([[1, 2, 3, 4], 2]);
  expect(exec.mock.calls.filter(([text]) => text === 'COMMIT')).toHaveLength(2);
});

it('what is not durable yet is seen by the next transaction, which tells nobody before it is', async () => {
  const writing = insert(7);
  await flushed(1);
  let seen: readonly unknown[] | undefined;
  const reading = numbers().then((found) => {
    seen = found;
  });
  const failing = database
    .transaction(async ({ query }) => {
      if ((await query('SELECT x FROM a')).length > 0) throw new Error('there is one');
    })
    .catch(String);
  let answer: unknown;
  void failing.then((text) => {
    answer = text;
  });
  await moments();
  expect([seen, answer]).toEqual([undefined, undefined]);
  flushes[0]?.resolve();
  await Promise.all([writing, reading]);
  expect([seen, await failing, flushes.length]).toEqual([[7], 'Error: there is one', 1]);
});

it('a flush that fails is told to all it was for, and nothing is done afterwards: nobody knows what is on the disk', async () => {
  const writing = [insert(1), insert(2)].map((one) => one.catch(String));
  await flushed(1);
  flushes[0]?.reject(new Error('EIO'));
  expect(await Promise.all(writing)).toEqual(['Error: EIO', 'Error: EIO']);
  await expect(insert(3)).rejects.toThrow('EIO');
  await expect(numbers()).rejects.toThrow('EIO');
  expect(flushes.length).toBe(1);
});

it('what only reads is not held up where everything is durable', async () => {
  expect(await numbers()).toEqual([]);
  expect(flushes.length).toBe(0);
});

it('what comes together is committed together, and one that fails is undone by itself', async () => {
  isHeld = false;
  const commits = vi.spyOn(opened.db, 'exec');
  const failing = database
    .transaction(async ({ query }) => {
      await query('INSERT INTO a VALUES (2)');
      throw new Error('not this one');
    })
    .catch(String);
  const ends = await Promise.all([insert(1), failing, insert(3)]);
  expect(ends[1]).toBe('Error: not this one');
  expect(await numbers()).toEqual([1, 3]);
  expect(commits.mock.calls.filter(([text]) => text === 'COMMIT').length).toBe(1);
});

it('a commit that fails is told to all that share it, and nothing of them is there', async () => {
  isHeld = false;
  const real = opened.db.exec.bind(opened.db);
  vi.spyOn(opened.db, 'exec')
    .mockImplementationOnce(real)
    .mockImplementation((text) => {
      if (text === 'COMMIT') throw new Error('the disk is full');
      real(text);
    });
  const ends = await Promise.all([insert(1), insert(2)].map((one) => one.catch(String)));
  expect(ends).toEqual(['Error: the disk is full', 'Error: the disk is full']);
  vi.mocked(opened.db.exec).mockRestore();
  expect(await numbers()).toEqual([]);
});
