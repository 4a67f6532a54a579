/** Units over restarts, backups, copies and rotations: a secret and the names used under it live and die together. */
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { granted } from '@basa/protocol';
import { SEALINGS } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { openDatabase } from '@basa/service';
import { AuthorityScene } from '@basa/testkit/world/authority-scene.ts';
import type { SceneOptions } from '@basa/testkit/world/shots.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AUDIT_FILE, backupAuthority, restoreAuthority, rotateVault } from '../src/index.ts';
import { AUTHORITY_DATABASE } from '../src/store/store.ts';
import { UnitFile } from '../src/units/unit-file.ts';

/** The server asks authorities for new epochs at most so often. */
const SOON_MS = 6000;
const HOUR_MS = 3_600_000;
const VECTOR = [{ part: 0, vector: true }];
let scene: AuthorityScene;
afterEach(async () => {
  vi.restoreAllMocks();
  await scene.close();
});

type Party = AuthorityScene['world']['authorities'][number];

/** An authority that three devices have sealed updates to. */
async function used(options: SceneOptions = {}) {
  scene = await AuthorityScene.open(3, options);
  const { world, shots } = scene;
  const [party] = world.authorities as [Party];
  return { world, party, shots, batch: scene.batch(), places: placesOf(party, { keyFile: party.keyFile }) };
}

const placesOf = ({ dataFolder }: Party, secret: { readonly keyFile: string } | { readonly passphrase: string }) => ({
  environment: {
    BASA_AUTHORITY_DATA_FOLDER: dataFolder,
    BASA_AUTHORITY_PORT: '0',
    ...('keyFile' in secret
      ? { BASA_AUTHORITY_KEY_FILE: secret.keyFile }
      : { BASA_AUTHORITY_PASSPHRASE: secret.passphrase }),
  },
});

const unitsOf = ({ units }: Party): readonly string[] => readdirSync(units).map((name) => join(units, name));
const verdictsOf = async (shots = scene.shots): Promise<readonly string[]> =>
  granted(await scene.inspectBy(0, shots)).verdicts.map(({ verdict }) => verdict);

/** True if a file below the folder holds these bytes. */
function holds(folder: string, bytes: Uint8Array): boolean {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.some(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(Buffer.from(bytes)));
}

/** The secret of the only unit, as it is sealed in its file. */
function sealedIn(party: Party): Buffer {
  const unit = readFileSync(unitsOf(party)[0] as string);
  return unit.subarray(24, 24 + unit.readUInt32LE(0) - 16).subarray(-80);
}

/** Nothing is voted for or released, and the next epoch works. */
async function expectGone(): Promise<void> {
  const [old, batch] = [[...scene.shots], scene.batch()];
  expect(granted(await scene.inspectBy(0, old)).verdicts).toMatchObject(
    old.map(() => ({ verdict: 'abstain', reason: 'epoch-over' })),
  );
  expect(await scene.releaseBy(0, batch, { wanted: VECTOR })).toMatchObject({ reason: 'epoch-over' });
  await scene.epoch();
  scene.world.elapse(SOON_MS);
  await scene.world.server.tick();
  expect(await scene.votes(scene.batch(await scene.give(3)))).toHaveLength(1);
}

describe('after a restart', () => {
  it('the same batch gets the same vote and the same sums, and no other batch with its uploads gets one', async () => {
    const { party, shots } = await used();
    const batch = scene.batch(shots.slice(0, 2));
    const votes = await scene.votes(batch);
    const released = await scene.releaseBy(0, batch, { votes, wanted: VECTOR });
    expect(released).not.toHaveProperty('reason');
    await party.restart();
    expect(await verdictsOf()).toEqual(['used', 'used', 'good']);
    expect(await scene.votes(batch)).toEqual(votes);
    expect(await scene.voteBy(0, scene.batch(shots.slice(1)))).toMatchObject({ reason: 'upload-used' });
    expect(await scene.releaseBy(0, batch, { votes, wanted: VECTOR })).toEqual(released);
  });

  it('a vote that was recorded and not signed is the only one that its uploads get', async () => {
    const { party, shots } = await used();
    await verdictsOf();
    const append = UnitFile.prototype.append;
    vi.spyOn(UnitFile.prototype, 'append').mockImplementationOnce(async function (this: UnitFile, payload) {
      await append.call(this, payload);
      throw new Error('the power is cut');
    });
    const batch = scene.batch(shots.slice(0, 2));
    expect(await scene.voteBy(0, batch)).toMatchObject({ reason: 'internal' });
    await party.restart();
    await verdictsOf();
    expect(await scene.voteBy(0, scene.batch(shots.slice(1)))).toMatchObject({ reason: 'upload-used' });
    expect(await scene.voteBy(0, batch)).not.toHaveProperty('reason');
  });
});

it('an authority that cannot write a unit signs nothing, and after a failed flush knows its epoch no more', async () => {
  const { party, batch } = await used();
  await verdictsOf();
  vi.spyOn(UnitFile.prototype, 'append').mockRejectedValueOnce(new Error('the disk failed'));
  const hasFailed = vi.spyOn(UnitFile.prototype, 'hasFailed', 'get').mockReturnValue(true);
  expect(await scene.voteBy(0, batch)).toMatchObject({ reason: 'internal' });
  hasFailed.mockRestore();
  await party.service.tick();
  await expectGone();
});

describe('the secret of an epoch', () => {
  it.each(SEALINGS)(
    'opens after the vault has another key, which forgets the old one with the last unit (%s)',
    async (sealing) => {
      const { world, party, places } = await used({ oneShot: { sealing } });
      const [first, second] = ['correct horse battery staple', 'another horse, as correct'] as const;
      const older = (): number => {
        const { db, close } = openDatabase(party.dataFolder, AUTHORITY_DATABASE);
        const { n } = db.prepare('SELECT count(*) AS n FROM older_keys').get() as { n: number };
        close();
        return n;
      };
      const rotate = async (): Promise<void> => {
        await rotateVault(places, { passphrase: first });
        await rotateVault(placesOf(party, { passphrase: first }), { passphrase: second });
        expect(older()).toBe(2);
      };
      await party.restart(rotate, { secret: { passphrase: second } });
      expect(await verdictsOf()).toEqual(['good', 'good', 'good']);
      world.elapse(3 * HOUR_MS);
      await party.service.tick();
      await party.restart(() => expect(older()).toBe(0), { secret: { passphrase: second } });
    },
  );

  it('is gone from the folder when its epoch has ended', async () => {
    const { world, party } = await used();
    const sealed = sealedIn(party);
    const [path] = unitsOf(party) as [string];
    expect(holds(party.dataFolder, sealed)).toBe(true);
    const ends = (await scene.epoch()).opens + 2 * HOUR_MS;
    world.elapse(ends - 1 - world.now);
    await party.service.tick();
    expect(existsSync(path)).toBe(true);
    world.elapse(1);
    await party.service.tick();
    expect([existsSync(path), holds(party.dataFolder, sealed), unitsOf(party).length]).toEqual([false, false, 1]);
  });

  it('is in no backup: a restored authority is silent about its epochs, and opens new ones', async () => {
    const { world, party, places } = await used();
    const backup = join(world.folder, 'backup');
    const audit = readFileSync(join(party.dataFolder, AUDIT_FILE), 'utf8');
    await backupAuthority(places, backup);
    await party.restart(async () => {
      expect([holds(party.dataFolder, sealedIn(party)), holds(backup, sealedIn(party))]).toEqual([true, false]);
      rmSync(party.dataFolder, { recursive: true });
      await restoreAuthority(places, backup);
      expect(readFileSync(join(party.dataFolder, AUDIT_FILE), 'utf8')).toBe(audit);
    });
    await expectGone();
  });
});

describe('a unit is gone, and its secret with it', () => {
  it('if the folder was copied; the folder that was copied is as it was, and may be moved', async () => {
    const { world, party } = await used();
    const { dataFolder } = party;
    const moved = join(world.folder, 'moved');
    const lines: string[] = [];
    const log = { level: 'warn', stream: { write: (line: string) => void lines.push(line) } } as const;
    await party.restart(
      () => {
        renameSync(dataFolder, moved);
        cpSync(moved, dataFolder, { recursive: true });
      },
      { log },
    );
    expect(await verdictsOf()).toEqual(['abstain', 'abstain', 'abstain']);
    expect(lines.join()).toContain('are gone');
    await party.restart(() => {
      rmSync(dataFolder, { recursive: true });
      renameSync(moved, dataFolder);
    });
    expect(await verdictsOf()).toEqual(['good', 'good', 'good']);
    await party.copied()();
    await expectGone();
  });

  it.each<[string, (path: string) => void]>([
    ['is missing', (path) => rmSync(path)],
    ['does not read to its end', (path) => appendFileSync(path, new Uint8Array(3))],
  ])('if its file %s', async (_, damage) => {
    const { party } = await used();
    const [path] = unitsOf(party) as [string];
    await party.restart(() => damage(path));
    expect(existsSync(path)).toBe(false);
    await expectGone();
  });

  it('if another vault sealed it', async () => {
    const { world, party } = await used({ count: 4 });
    const other = world.authorities[1] as Party;
    const [path] = unitsOf(party) as [string];
    await other.restart(() => {
      rmSync(other.units, { recursive: true });
      renameSync(party.units, other.units);
    });
    expect(unitsOf(other).map((unit) => basename(unit))).not.toContain(basename(path));
  });
});

it('a batch over two epochs is recorded in the unit of each upload, and released while both live', async () => {
  const { world, party, shots } = await used();
  const [first] = shots as [(typeof shots)[number]];
  const { opens } = await scene.epoch();
  world.elapse((3 * HOUR_MS) / 4);
  await scene.epoch();
  const others = await scene.give(2);
  const before = unitsOf(party).map((path) => statSync(path).size);
  const batch = scene.batch([first, ...others]);
  const votes = await scene.votes(batch);
  const grown = unitsOf(party).map((path, n) => statSync(path).size - (before[n] as number));
  // Length and checksum, the kind, ctx, and a name for each upload.
  expect(grown.sort((a, b) => a - b)).toEqual([8 + 1 + 32 + 32, 8 + 1 + 32 + 2 * 32]);
  const release = () => scene.releaseBy(0, batch, { votes, wanted: VECTOR });
  expect(await release()).not.toHaveProperty('reason');
  world.elapse(opens + 2 * HOUR_MS - world.now);
  await party.service.tick();
  expect(await release()).toMatchObject({ reason: 'epoch-over' });
});
