/** The database of a data folder: what it refuses, and that a refusal changes nothing. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withExports } from '@basa/testkit/root.ts';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { FIRST_FORMAT, openDatabase, readDatabase, sqliteDatabase, transaction } from '../../src/index.ts';
import { copyDatabase } from '../../src/sql/database.ts';

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true });
});
function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'basa-data-'));
  made.push(folder);
  return folder;
}

const ONE = { application: 'authority', format: FIRST_FORMAT, tables: ['CREATE TABLE a (x INTEGER)'] } as const;
const TWO = { ...ONE, format: FIRST_FORMAT + 1 };
const file = (folder: string) => join(folder, 'basa.sqlite');

it('a copy has everything, and is a database of the same service and format', () => {
  const schema = 'CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT); CREATE INDEX of_y ON a (y);';
  const options = { application: 'authority', format: FIRST_FORMAT, tables: [schema] } as const;
  const [folder, path] = [freshFolder(), file(freshFolder())];
  const { db, close } = openDatabase(folder, options);
  db.exec(`INSERT INTO a VALUES (5, 'five'), (9, 'nine')`);
  copyDatabase(folder, options, path);
  close();
  const copy = openDatabase(join(path, '..'), options);
  const rows = copy.db.prepare('SELECT * FROM a INDEXED BY of_y ORDER BY y').all();
  expect(rows).toMatchObject([{ x: 5 }, { x: 9, y: 'nine' }]);
  copy.close();
});

describe('a data folder', () => {
  it('is made where there is none, keeps what is written, and is durable by its settings', () => {
    const folder = join(freshFolder(), 'deep', 'er');
    const first = openDatabase(folder, ONE);
    first.db.exec('INSERT INTO a VALUES (5)');
    const settings = ['journal_mode', 'synchronous', 'foreign_keys', 'secure_delete'].map((name) =>
      Object.values(first.db.prepare(`PRAGMA ${name}`).get() as object),
    );
    expect(settings.flat()).toEqual(['wal', 2, 1, 1]);
    first.close();
    const second = openDatabase(folder, ONE);
    expect(second.db.prepare('SELECT x FROM a').all()).toMatchObject([{ x: 5 }]);
    second.close();
  });

  it('is for its owner alone, with everything in it, also where it was made with other rights', () => {
    const folder = freshFolder();
    chmodSync(folder, 0o755);
    for (const name of ['basa.sqlite', 'basa.lock']) writeFileSync(join(folder, name), '', { mode: 0o644 });
    const { db, close } = openDatabase(folder, ONE);
    db.exec('INSERT INTO a VALUES (5)');
    const rights = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect(rights(folder)).toBe('700');
    const names = readdirSync(folder).sort();
    expect(names).toEqual(expect.arrayContaining(['basa.lock', 'basa.sqlite', 'basa.sqlite-shm', 'basa.sqlite-wal']));
    expect(names.map((name) => [name, rights(join(folder, name))])).toEqual(names.map((name) => [name, '600']));
    close();
  });

  it('of a version before 1.0 is refused with what to do, and not changed', () => {
    const folder = freshFolder();
    openDatabase(folder, { ...ONE, format: 14 }).close();
    const before = readFileSync(file(folder));
    const refused = `${folder} has format 14: it was written by a version before 1.0, and 1.0 starts afresh`;
    for (const open of [openDatabase, readDatabase]) expect(() => open(folder, ONE)).toThrow(refused);
    expect(readFileSync(file(folder))).toEqual(before);
  });

  it('stays empty when its tables cannot be created', () => {
    const folder = freshFolder();
    expect(() => openDatabase(folder, { ...ONE, tables: [...ONE.tables, 'no SQL'] })).toThrow();
    openDatabase(folder, ONE).close();
  });

  it('of a newer format is refused', () => {
    const folder = freshFolder();
    openDatabase(folder, TWO).close();
    expect(() => openDatabase(folder, ONE)).toThrow(
      `${folder} has format 21, but this version knows only formats up to 20; start the newer version that wrote it`,
    );
    openDatabase(folder, TWO).close();
  });

  it('of the other service is refused, and not changed', () => {
    const folder = freshFolder();
    openDatabase(folder, ONE).close();
    const before = readFileSync(file(folder));
    expect(() => openDatabase(folder, { ...ONE, application: 'server' })).toThrow(
      `${folder} is the data folder of a BASA authority; choose another folder for the server`,
    );
    expect(readFileSync(file(folder))).toEqual(before);
  });

  it('with the database of another program is refused, and not changed', () => {
    const folder = freshFolder();
    const other = new DatabaseSync(file(folder));
    other.exec('CREATE TABLE b (x)');
    other.close();
    const before = readFileSync(file(folder));
    expect(() => openDatabase(folder, ONE)).toThrow('another program');
    expect(readFileSync(file(folder))).toEqual(before);
  });

  it.each([
    ['its pages', (bytes: Buffer) => bytes.fill(0xaa, 4096 + 100, 8192)],
    ['its header', (bytes: Buffer) => bytes.fill(0xaa, 0, 16)],
    ['its end', (bytes: Buffer) => bytes.subarray(0, 6000)],
  ])('damaged in %s is refused with what to do', (_, damage) => {
    const folder = freshFolder();
    const { db, close } = openDatabase(folder, ONE);
    transaction(db, () => {
      for (let n = 0; n < 2000; n++) db.prepare('INSERT INTO a VALUES (?)').run(n);
    });
    close();
    writeFileSync(file(folder), damage(readFileSync(file(folder))));
    expect(() => openDatabase(folder, ONE)).toThrow(/is damaged .* restore the newest backup/);
  });

  it('that cannot be written is refused', () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'file'), '');
    expect(() => openDatabase(join(folder, 'file'), ONE)).toThrow('cannot be used as a data folder (EEXIST)');
    if (process.getuid?.() === 0) return; // root may write anywhere
    mkdirSync(join(folder, 'locked'));
    chmodSync(join(folder, 'locked'), 0o500);
    expect(() => openDatabase(join(folder, 'locked'), ONE)).toThrow('cannot be used as a data folder (EACCES)');
  });

  it('is used by one at a time', () => {
    const folder = freshFolder();
    const first = openDatabase(folder, ONE);
    expect(() => openDatabase(folder, ONE)).toThrow(`${folder} is already in use by this process`);
    first.close();
    openDatabase(folder, ONE).close();
  });

  it('is locked against other processes, and free again when one was killed', async () => {
    const folder = freshFolder();
    const program = `openDatabase(${JSON.stringify(folder)}, ${JSON.stringify(ONE)});
      await new Promise(setImmediate); // nothing refers to what was opened
      gc(); await new Promise(setImmediate); gc();
      console.log('open'); setInterval(() => {}, 1000);`;
    const service = fileURLToPath(new URL('../../src/index.ts', import.meta.url));
    const child = spawn(process.execPath, ['--expose-gc', ...withExports('openDatabase', service, program)]);
    await once(child.stdout, 'data');
    const { pid } = child;
    expect(() => openDatabase(folder, ONE)).toThrow(
      `${folder} is in use by process ${pid}; stop it (kill ${pid}), or use another folder`,
    );
    // Of another machine, and of nobody that lives.
    writeFileSync(join(folder, 'basa.pid'), JSON.stringify({ pid: 7, host: 'elsewhere' }));
    expect(() => openDatabase(folder, ONE)).toThrow('in use by process 7 on elsewhere; stop it there');
    writeFileSync(join(folder, 'basa.pid'), JSON.stringify({ pid: 2 ** 30, host: hostname() }));
    expect(() => openDatabase(folder, ONE)).toThrow('in use by another process; stop it');
    child.kill('SIGKILL');
    await once(child, 'exit');
    openDatabase(folder, ONE).close();
  });
});

describe('a transaction', () => {
  it('is taken back whole when its work throws', () => {
    const { db, close } = openDatabase(freshFolder(), ONE);
    const insert = (x: number) => db.prepare('INSERT INTO a VALUES (?)').run(x);
    expect(transaction(db, () => insert(1).changes)).toBe(1);
    const failing = () =>
      transaction(db, () => {
        insert(2);
        throw new Error('no');
      });
    expect(failing).toThrow('no');
    expect(db.prepare('SELECT count(*) AS n FROM a').get()).toMatchObject({ n: 1 });
    close();
  });
});

it('tells how long commits took, of transactions that wrote and no others', async () => {
  const commits: number[] = [];
  const opened = openDatabase(freshFolder(), ONE);
  const database = sqliteDatabase(opened, Date.now, { onCommit: (seconds) => commits.push(seconds) });
  await database.query('SELECT x FROM a');
  await database.transaction(async () => undefined);
  const failed = database.transaction(async ({ query }) => {
    await query('INSERT INTO a VALUES (1)');
    throw new Error('rolled back');
  });
  await expect(failed).rejects.toThrow('rolled back');
  expect(commits).toEqual([]);
  await database.query('INSERT INTO a VALUES (2)');
  await database.query('SELECT x FROM a');
  expect(commits.length).toBe(1);
  expect(commits[0]).toBeGreaterThan(0);
  await database.close();
});
