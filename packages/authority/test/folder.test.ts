/** Data folders and secrets that do not fit: each is refused with a sentence, and nothing is changed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { openDatabase } from '@basa/service';
import { afterEach, describe, expect, it } from 'vitest';
import { examineAuthority } from '../src/index.ts';
import { AUTHORITY_DATABASE } from '../src/store/store.ts';
import { ask, askAs, newDevice, userOf } from './asking.ts';
import { PAPER } from './conformance/paper.ts';
import { cleanUp, freshHome, OPERATOR, OPERATORS, start, stop, stopAll, time } from './homes.ts';
import { shotScene, shotStage } from './one-shot/shot-world.ts';

const mounted: string[] = [];
afterEach(async () => {
  await stopAll();
  for (const folder of mounted.splice(0)) execFileSync('umount', ['--lazy', folder]);
  await cleanUp();
});

/** A home with an authority that has stopped. */
async function usedHome(secret: { passphrase: string } | undefined = undefined) {
  const home = freshHome();
  const authority = await start(home, secret === undefined ? {} : { secret });
  await shotScene(authority, 2);
  await stop(authority);
  return { home, file: join(home.dataFolder, 'basa.sqlite') };
}

/** Changes the database behind the authority's back. */
function meddle(folder: string, sql: string): void {
  const { db, close } = openDatabase(folder, AUTHORITY_DATABASE);
  db.exec(sql);
  close();
}

describe('the secret of the vault', () => {
  it('a passphrase opens the keys that it sealed, and a wrong passphrase changes nothing', async () => {
    const passphrase = 'correct horse battery staple';
    const { home, file } = await usedHome({ passphrase });
    const before = readFileSync(file);
    await expect(start(home, { secret: { passphrase: 'correct horse battery stable' } })).rejects.toMatchObject({
      reason: 'keys',
      message: `the passphrase does not open the keys in ${home.dataFolder}, and nothing was changed; use the newest one that encrypted them`,
    });
    await expect(start(home)).rejects.toThrow(
      'the keys are encrypted with a passphrase; set passphrase instead of keyFile',
    );
    expect(readFileSync(file)).toEqual(before);
    expect((await ask(await start(home, { secret: { passphrase } }), '/v1/health')).status).toBe(200);
  });

  it('a key file opens the keys that it sealed; another, a short or a missing key file is refused', async () => {
    const { home } = await usedHome();
    const other = join(home.root, 'other');
    writeFileSync(other, nodeRandomBytes(32));
    await expect(start({ ...home, keyFile: other })).rejects.toThrow('the key file does not open the keys');
    writeFileSync(other, nodeRandomBytes(31));
    await expect(start({ ...home, keyFile: other })).rejects.toThrow(
      'must contain exactly 32 random bytes, but has 31',
    );
    await expect(start({ ...home, keyFile: '/nowhere' })).rejects.toThrow('the key file cannot be read');
    await expect(start(home, { secret: { passphrase: 'whatever it may be' } })).rejects.toThrow(
      'encrypted with a key file',
    );
  });

  it('a short passphrase is not taken for a new folder', async () => {
    await expect(start(freshHome(), { secret: { passphrase: 'short' } })).rejects.toThrow('at least 12 characters');
  });
});

describe('a data folder', () => {
  it('of a server is refused', async () => {
    const home = freshHome();
    openDatabase(home.dataFolder, { application: 'server', format: 20, tables: ['CREATE TABLE a (x)'] }).close();
    await expect(start(home)).rejects.toThrow(
      'is the data folder of a BASA server; choose another folder for the authority',
    );
  });

  it('of an authority is refused by a server', async () => {
    const { home } = await usedHome();
    const open = () =>
      openDatabase(home.dataFolder, { application: 'server', format: 20, tables: ['CREATE TABLE a (x)'] });
    expect(open).toThrow('is the data folder of a BASA authority; choose another folder for the server');
  });

  it('of a newer format is refused', async () => {
    const home = freshHome();
    openDatabase(home.dataFolder, { application: 'authority', format: 21, tables: [] }).close();
    await expect(start(home)).rejects.toThrow('has format 21, but this version knows only formats up to 20');
  });

  it('of version 0.3 is refused, and not changed', async () => {
    const { root } = freshHome();
    const archive = new URL('../../../test/fixtures/data-0.3.tar.gz', import.meta.url);
    execFileSync('tar', ['-xzf', fileURLToPath(archive), '-C', root]);
    const dataFolder = join(root, 'authority');
    const before = readFileSync(join(dataFolder, 'basa.sqlite'));
    await expect(start({ dataFolder, keyFile: join(root, 'authority.key') })).rejects.toThrow(
      /has format 3: it was written by a version before 1\.0, and 1\.0 starts afresh: export its model/,
    );
    expect(readFileSync(join(dataFolder, 'basa.sqlite'))).toEqual(before);
  });

  it('in use is refused', async () => {
    const home = freshHome();
    await start(home);
    await expect(start(home)).rejects.toMatchObject({ reason: 'inUse' });
  });

  it.each([
    ['a changed master key', 'UPDATE paper_keys SET sealed = zeroblob(80)'],
    ['the master key of another task', 'UPDATE paper_keys SET task = zeroblob(32)'],
  ])('with %s is refused', async (_, sql) => {
    const home = freshHome();
    const authority = await start(home, { unsafePaperMode: true });
    const { task } = await shotStage([authority], 0, PAPER);
    await ask(authority, AUTHORITY_PATH.unsafePaperSealingKey(task));
    await stop(authority);
    meddle(home.dataFolder, sql);
    await expect(start(home, { unsafePaperMode: true })).rejects.toThrow(/the master key of task .* is damaged/);
  });

  it('whose file is damaged is refused', async () => {
    const { home, file } = await usedHome();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length / 2));
    await expect(start(home)).rejects.toThrow(/is damaged .* restore the newest backup/);
  });
});

it('a busy port is a sentence, and the folder is free again', async () => {
  const first = await start(freshHome());
  const home = freshHome();
  const listen = { host: '127.0.0.1', port: Number(new URL(first.url).port) };
  await expect(start(home, { listen })).rejects.toMatchObject({ reason: 'address' });
  await start(home);
});

/** Small file systems need the right to mount. */
function mount(options: string): string | undefined {
  const folder = join(freshHome().root, 'mount');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  mounted.push(folder);
  return folder;
}

it('a read-only disk is a sentence', async ({ skip }) => {
  const folder = mount('ro,size=1m') ?? skip('mount is not permitted here');
  await expect(start({ ...freshHome(), dataFolder: join(folder, 'data') })).rejects.toThrow(
    'cannot be used as a data folder',
  );
});

it('a full disk refuses requests that write, serves other requests, and loses nothing', async ({ skip }) => {
  const folder = mount('size=600k') ?? skip('mount is not permitted here');
  const home = { ...freshHome(), dataFolder: join(folder, 'data') };
  const authority = await start(home, { addressLimit: { burst: 1e6, perSecond: 1e6 } });
  const { server } = await shotStage([authority], 0);
  const path = AUTHORITY_PATH.tokens(server.task);
  const proofs: string[] = [];
  let refused: string | undefined;
  while (refused === undefined) {
    const fresh = Array.from({ length: 100 }, () => nodeRandomBytes(32));
    const hashes = fresh.map((proof) => toHex(nodeSuite.sha256(proof)));
    const answer = await ask(authority, path, { body: { hashes, endsAt: time.now + 1000 }, token: OPERATOR });
    refused = answer.code;
    if (answer.status === 200) proofs.push(...fresh.map(toHex));
  }
  expect(refused).toBe('storage-full');
  expect((await ask(authority, AUTHORITY_PATH.policy(server.task))).status).toBe(200);
  execFileSync('mount', ['-o', 'remount,size=4m', folder]);
  const proof = proofs.at(-1);
  expect((await askAs(newDevice(), authority, AUTHORITY_PATH.enrolments(server.task), { proof })).status).toBe(200);
  await stop(authority);
  await stop(await start(home));
});

it('tells the doctor how many devices of a task are enrolled and not revoked', async () => {
  const home = freshHome();
  const authority = await start(home);
  const { server, enrolled } = await shotStage([authority], 3);
  const user = toHex(userOf((enrolled[0] as (typeof enrolled)[number]).device));
  await ask(authority, AUTHORITY_PATH.revocations, { body: { user }, token: OPERATOR });
  const { bufferSize, minimum } = server.policy;
  const fleets = await examineAuthority({
    dataFolder: home.dataFolder,
    secret: { keyFile: home.keyFile },
    operators: OPERATORS,
  });
  expect(fleets).toEqual([{ name: 'test', bufferSize, minimum, devices: 2 }]);
});
