/** Units over restarts, backups, copies and rotations: a secret and the names used under it live and die together. */
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { equalBytes } from '@basa/masking';
import { type Epoch, ONE_SHOT_DEFAULTS, SEALINGS, type TaskPolicy, voteCodec } from '@basa/protocol';
import { openDatabase } from '@basa/service';
import type { TestUpload } from '@basa/testkit/core/one-shot/shot-upload.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { backupAuthority, restoreAuthority, rotateVault } from '../../src/index.ts';
import { AUTHORITY_DATABASE } from '../../src/store/store.ts';
import { UnitFile } from '../../src/units/unit-file.ts';
import { cleanUp, freshHome, type Home, start, stop, time } from '../homes.ts';
import { finalBatch, inOrder, type ShotScene, shotScene, standOf } from './shot-world.ts';

const HOUR_MS = 3_600_000;
const VECTOR = [{ part: 0, vector: true }];
const begun = time.now;
afterEach(async () => {
  vi.restoreAllMocks();
  time.now = begun;
  await cleanUp();
});

const unitsOf = ({ dataFolder }: Pick<Home, 'dataFolder'>): readonly string[] =>
  readdirSync(join(dataFolder, 'units')).map((name) => join(dataFolder, 'units', name));
const bytesOf = (home: Home): readonly Buffer[] => unitsOf(home).map((path) => readFileSync(path));

/** True if a file below the folder holds these bytes. */
function holds(folder: string, bytes: Uint8Array): boolean {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.some(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(Buffer.from(bytes)));
}

async function used(home: Home, more: Partial<TaskPolicy> = {}) {
  const authority = await start(home);
  return { authority, scene: await shotScene(authority, 3, more) };
}

/** The secret of the only unit, as it is sealed in its file. */
function sealedIn(home: Home): Buffer {
  const [unit] = bytesOf(home) as [Buffer];
  return unit.subarray(24, 24 + unit.readUInt32LE(0) - 16).subarray(-80);
}

const placesOf = ({ keyFile }: Home, dataFolder: string) => ({
  environment: {
    BASA_AUTHORITY_DATA_FOLDER: dataFolder,
    BASA_AUTHORITY_KEY_FILE: keyFile,
    BASA_AUTHORITY_PORT: '0',
  },
});

/** Nothing is voted for or released, and the next epoch works. */
async function expectGone(authority: Awaited<ReturnType<typeof start>>, scene: ShotScene): Promise<void> {
  const { world, uploads, epochs } = scene;
  expect(await standOf(authority, scene)).toBe('dead');
  const release = world.releaseRequest({ uploads, epochs, votes: [], wanted: VECTOR });
  expect((await world.release(authority, release)).code).toBe('epoch-over');
  const next = { world, epochs: await world.epochs([authority]), uploads: await world.uploads([authority]) };
  expect((await finalBatch(authority, next)).votes).toHaveLength(1);
}

describe('after a restart', () => {
  it('the same batch gets the same vote and the same sums, and no other batch with its uploads gets one', async () => {
    const home = freshHome();
    const { authority, scene } = await used(home);
    const { world, uploads, epochs } = scene;
    const { request, votes } = await finalBatch(authority, { ...scene, uploads: uploads.slice(0, 2) });
    const release = world.releaseRequest({ uploads: uploads.slice(0, 2), epochs, votes, wanted: VECTOR });
    const released = await world.release(authority, release);
    expect(released.status).toBe(200);
    await stop(authority);
    const again = await start(home);
    const { verdicts } = await world.inspected(again, uploads, epochs);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['used', 'used', 'good']);
    expect(voteCodec.decode((await world.vote(again, request)).bytes).endorsements).toEqual(votes);
    const other = await world.vote(again, world.voteRequest(world.batchOf(uploads.slice(1))));
    expect(other.code).toBe('upload-used');
    expect((await world.release(again, release)).bytes).toEqual(released.bytes);
  });

  it('a vote that was recorded and not signed is the only one that its uploads get', async () => {
    const home = freshHome();
    const { authority, scene } = await used(home);
    const { world, uploads, epochs } = scene;
    await world.inspected(authority, uploads, epochs);
    const append = UnitFile.prototype.append;
    vi.spyOn(UnitFile.prototype, 'append').mockImplementationOnce(async function (this: UnitFile, payload) {
      await append.call(this, payload);
      throw new Error('the power is cut');
    });
    const request = world.voteRequest(world.batchOf(uploads.slice(0, 2)));
    expect((await world.vote(authority, request)).status).toBe(500);
    await stop(authority);
    const again = await start(home);
    await world.inspected(again, uploads, epochs);
    expect((await world.vote(again, world.voteRequest(world.batchOf(uploads.slice(1))))).code).toBe('upload-used');
    expect((await world.vote(again, request)).status).toBe(200);
  });
});

describe('an authority that cannot write a unit', () => {
  it('signs nothing, and after a failed flush knows its epoch no more', async () => {
    const home = freshHome();
    const { authority, scene } = await used(home);
    const { world, uploads, epochs } = scene;
    await world.inspected(authority, uploads, epochs);
    vi.spyOn(UnitFile.prototype, 'append').mockRejectedValueOnce(new Error('the disk failed'));
    const hasFailed = vi.spyOn(UnitFile.prototype, 'hasFailed', 'get').mockReturnValue(true);
    const answer = await world.vote(authority, world.voteRequest(world.batchOf(uploads)));
    expect([answer.status, answer.code]).toEqual([500, 'internal']);
    hasFailed.mockRestore();
    await authority.tick();
    await expectGone(authority, scene);
  });
});

describe('the secret of an epoch', () => {
  it.each(SEALINGS)(
    'opens after the vault has another key, which forgets the old one with the last unit (%s)',
    async (sealing) => {
      const home = freshHome();
      const { authority, scene } = await used(home, { oneShot: { ...ONE_SHOT_DEFAULTS, sealing } });
      await stop(authority);
      const [first, second] = ['correct horse battery staple', 'another horse, as correct'] as const;
      await rotateVault(placesOf(home, home.dataFolder), { passphrase: first });
      const rotated = {
        environment: { ...placesOf(home, home.dataFolder).environment, BASA_AUTHORITY_PASSPHRASE: first },
      };
      const { BASA_AUTHORITY_KEY_FILE: _, ...environment } = rotated.environment;
      await rotateVault({ environment }, { passphrase: second });
      const older = (): number => {
        const { db, close } = openDatabase(home.dataFolder, AUTHORITY_DATABASE);
        const { n } = db.prepare('SELECT count(*) AS n FROM older_keys').get() as { n: number };
        close();
        return n;
      };
      expect(older()).toBe(2);
      const again = await start(home, { secret: { passphrase: second } });
      expect(await standOf(again, scene)).toBe('live');
      time.now += 3 * HOUR_MS;
      await again.tick();
      await stop(again);
      expect(older()).toBe(0);
    },
  );

  it('is gone from the folder when its epoch has ended', async () => {
    const home = freshHome();
    const { authority } = await used(home);
    const sealed = sealedIn(home);
    const [path] = unitsOf(home) as [string];
    expect(holds(home.dataFolder, sealed)).toBe(true);
    time.now += 2 * HOUR_MS - 1;
    await authority.tick();
    expect(existsSync(path)).toBe(true);
    time.now += 1;
    await authority.tick();
    expect([existsSync(path), holds(home.dataFolder, sealed), unitsOf(home).length]).toEqual([false, false, 1]);
  });

  it('is in no backup: a restored authority is silent about its epochs, and opens new ones', async () => {
    const home = freshHome();
    const { authority, scene } = await used(home);
    const backup = join(home.root, 'backup');
    await backupAuthority(placesOf(home, home.dataFolder), backup);
    await stop(authority);
    expect([holds(home.dataFolder, sealedIn(home)), holds(backup, sealedIn(home))]).toEqual([true, false]);
    rmSync(home.dataFolder, { recursive: true });
    await restoreAuthority(placesOf(home, home.dataFolder), backup);
    await expectGone(await start(home), scene);
  });
});

describe('a unit is gone, and its secret with it', () => {
  it('if the folder was copied', async () => {
    const home = freshHome();
    const { authority, scene } = await used(home);
    await stop(authority);
    const copy = { ...home, dataFolder: join(home.root, 'copy') };
    cpSync(home.dataFolder, copy.dataFolder, { recursive: true });
    const lines: string[] = [];
    const again = await start(copy, { log: { level: 'warn', stream: { write: (line) => void lines.push(line) } } });
    await expectGone(again, scene);
    expect(lines.join()).toContain('are gone');
    await stop(again);
    // The folder that was copied is as it was; it may also be moved.
    const moved = { ...home, dataFolder: join(home.root, 'moved') };
    renameSync(home.dataFolder, moved.dataFolder);
    expect(await standOf(await start(moved), scene)).toBe('live');
  });

  it.each<[string, (path: string) => void]>([
    ['is missing', (path) => rmSync(path)],
    ['does not read to its end', (path) => appendFileSync(path, new Uint8Array(3))],
  ])('if its file %s', async (_, damage) => {
    const home = freshHome();
    const { authority, scene } = await used(home);
    await stop(authority);
    const [path] = unitsOf(home) as [string];
    damage(path);
    const again = await start(home);
    expect(existsSync(path)).toBe(false);
    await expectGone(again, scene);
  });

  it('if another vault sealed it', async () => {
    const [home, other] = [freshHome(), freshHome()];
    const { authority, scene } = await used(home);
    await stop(authority);
    await stop(await start(other));
    renameSync(join(home.dataFolder, 'units'), join(home.root, 'units'));
    rmSync(join(other.dataFolder, 'units'), { recursive: true });
    renameSync(join(home.root, 'units'), join(other.dataFolder, 'units'));
    await stop(await start(other));
    expect(unitsOf(other)).toEqual([]);
    await expectGone(await start(home), scene);
  });
});

it('a batch over two epochs is recorded in the unit of each upload, and released while both live', async () => {
  const home = freshHome();
  const { authority, scene } = await used(home);
  const { world } = scene;
  time.now += (3 * HOUR_MS) / 4;
  const [late] = (await world.epochs([authority])) as [Epoch];
  const [first] = scene.uploads as [TestUpload];
  const others = (await world.uploads([authority])).filter(
    ({ shown }) => !equalBytes(shown.header.user, first.shown.header.user),
  );
  const uploads = inOrder([first, ...others]);
  const epochs = [...scene.epochs, late];
  const before = bytesOf(home).map(({ length }) => length);
  const { votes } = await finalBatch(authority, { world, uploads, epochs });
  const grown = bytesOf(home).map(({ length }, n) => length - (before[n] as number));
  // Length and checksum, the kind, ctx, and a name for each upload.
  expect(grown.sort((a, b) => a - b)).toEqual([8 + 1 + 32 + 32, 8 + 1 + 32 + 2 * 32]);
  const request = world.releaseRequest({ uploads, epochs, votes, wanted: VECTOR });
  expect((await world.release(authority, request)).status).toBe(200);
  time.now = begun + 2 * HOUR_MS;
  await authority.tick();
  expect((await world.release(authority, request)).code).toBe('epoch-over');
});
