/** Durability in the one-shot mode: crashes between record and answer, lost secrets, backups that were restored, and rolled-back logs. */
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { AUTHORITY_PATH, type Epoch, ONE_SHOT_DEFAULTS, SEALINGS, type TaskPolicy } from '@basa/protocol';
import { openDatabase } from '@basa/service';
import type { TestUpload } from '@basa/testkit/core/one-shot/shot-upload.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { type Authority, backupAuthority, restoreAuthority, rotateVault, verifyLog } from '../../src/index.ts';
import { AUTHORITY_DATABASE } from '../../src/store/store.ts';
import { type Answer, ask } from '../asking.ts';
import { AUDITOR, cleanUp, freshHome, type Home, start, stop, time } from '../homes.ts';
import { PowerCuts } from '../power-cuts.ts';
import { type ShotWorld, shotStage } from './shot-world.ts';
import { votesOf } from './sums.ts';

const HOUR_MS = 3_600_000;
const VECTOR = [{ part: 0, vector: true }];
const begun = time.now;
afterEach(async () => {
  time.now = begun;
  await cleanUp();
});

async function logReport(authority: Authority) {
  const { bytes } = await ask(authority, AUTHORITY_PATH.log, { token: AUDITOR });
  return verifyLog(bytes, authority.publicKey);
}

/** The rows of secrets, behind the back of an authority that has stopped. */
function secretsIn(dataFolder: string, change?: string): readonly { readonly sealed: Uint8Array }[] {
  const { db, close } = openDatabase(dataFolder, AUTHORITY_DATABASE);
  if (change !== undefined) db.exec(change);
  const rows = db.prepare('SELECT sealed FROM shot_secrets').all() as { sealed: Uint8Array }[];
  close();
  return rows;
}

/** True if a file below the folder holds these bytes. */
function holds(folder: string, bytes: Uint8Array): boolean {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.some(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(Buffer.from(bytes)));
}

/** Every epoch before the restart is dead: nothing is voted for or released, and the next epoch has a new number. */
async function expectDead(
  authority: Authority,
  world: ShotWorld,
  { uploads, epochs }: { readonly uploads: readonly TestUpload[]; readonly epochs: readonly Epoch[] },
): Promise<void> {
  const { verdicts } = await world.inspected(authority, uploads, epochs);
  expect(new Set(verdicts.map(({ verdict, reason }) => `${verdict} ${reason}`))).toEqual(
    new Set(['abstain epoch-over']),
  );
  const release = world.releaseRequest({ uploads, epochs, votes: [], wanted: VECTOR });
  expect((await world.release(authority, release)).code).toBe('epoch-over');
  time.now += 3 * HOUR_MS;
  const fresh = (await world.standing(authority)).epoch;
  expect(fresh.number).toBeGreaterThan((epochs[0] as Epoch).number);
  expect((await logReport(authority)).problems).toEqual([]);
}

async function used(home: Home, options = {}, more: Partial<TaskPolicy> = {}) {
  const authority = await start(home, options);
  const world = await shotStage([authority], 3, more);
  const epochs = await world.epochs([authority]);
  const uploads = await world.uploads([authority]);
  return { authority, world, epochs, uploads };
}

describe('a power cut between the record and the answer', () => {
  it('loses neither an epoch nor a vote: the disk of that moment gives the same answer', async () => {
    const home = freshHome();
    const cuts = new PowerCuts(home);
    const { authority, world, epochs, uploads } = await used(home, { witness: cuts.witness });
    const survive = (step: (at: Authority) => Promise<Answer>): Promise<Answer> => cuts.survive(authority, step);
    await world.inspected(authority, uploads, epochs);
    const some = uploads.slice(0, 2);
    // The restarted one has inspected nothing, but its record gives the vote.
    await survive((at) => world.vote(at, world.voteRequest(world.batchOf(some))));
    const votes = (await world.voted(authority, world.batchOf(some))).endorsements;
    const request = world.releaseRequest({ uploads: some, epochs, votes, wanted: VECTOR });
    const released = await world.release(authority, request);
    time.now += HOUR_MS;
    await survive((at) => ask(at, AUTHORITY_PATH.standing(world.task))); // opens an epoch
    await stop(authority);
    const again = await start(home, { witness: cuts.witness });
    expect((await world.release(again, request)).bytes).toEqual(released.bytes);
    expect((await logReport(again)).problems).toEqual([]);
  });
});

describe('secrets of epochs', () => {
  it.each(SEALINGS)('are sealed again with the vault, and open afterwards (%s)', async (sealing) => {
    const home = freshHome();
    const oneShot = { ...ONE_SHOT_DEFAULTS, sealing };
    const { authority, world, epochs, uploads } = await used(home, {}, { oneShot });
    await stop(authority);
    const passphrase = 'correct horse battery staple';
    const places = {
      environment: {
        BASA_AUTHORITY_DATA_FOLDER: home.dataFolder,
        BASA_AUTHORITY_KEY_FILE: home.keyFile,
        BASA_AUTHORITY_PORT: '0',
      },
    };
    await rotateVault(places, { passphrase });
    const again = await start(home, { secret: { passphrase } });
    expect((await world.inspected(again, uploads, epochs)).verdicts.map(({ verdict }) => verdict)).toEqual([
      'good',
      'good',
      'good',
    ]);
  });

  it('are gone from the folder when their epoch has ended', async () => {
    const home = freshHome();
    const { authority } = await used(home);
    await stop(authority);
    const [sealed] = secretsIn(home.dataFolder).map((row) => row.sealed) as [Uint8Array];
    expect(holds(home.dataFolder, sealed)).toBe(true);
    time.now += 4 * HOUR_MS;
    const again = await start(home);
    await again.tick();
    expect(holds(home.dataFolder, sealed)).toBe(false);
    await stop(again);
    expect(secretsIn(home.dataFolder).length).toBe(1);
  });

  it.each([
    ['missing', 'DELETE FROM shot_secrets'],
    ['damaged', 'UPDATE shot_secrets SET sealed = zeroblob(80)'],
  ])('that are %s at a start are a roll-back: every epoch is dead', async (_, change) => {
    const home = freshHome();
    const { authority, world, ...given } = await used(home);
    await stop(authority);
    secretsIn(home.dataFolder, change);
    const again = await start(home);
    await expectDead(again, world, given);
    expect((await logReport(again)).counts['branch-begun']).toBe(1);
  });

  it('are in no backup; a restored authority declares its epochs dead, even if its witness is not newer', async () => {
    const home = freshHome();
    const { authority, world, ...given } = await used(home);
    const places = (dataFolder: string) => ({
      environment: {
        BASA_AUTHORITY_DATA_FOLDER: dataFolder,
        BASA_AUTHORITY_KEY_FILE: home.keyFile,
        BASA_AUTHORITY_PORT: '0',
      },
    });
    const backup = join(home.root, 'backup');
    await backupAuthority(places(home.dataFolder), backup);
    await stop(authority);
    const [sealed] = secretsIn(home.dataFolder).map((row) => row.sealed) as [Uint8Array];
    expect([holds(home.dataFolder, sealed), holds(backup, sealed)]).toEqual([true, false]);
    rmSync(home.dataFolder, { recursive: true });
    await restoreAuthority(places(home.dataFolder), backup);
    await expectDead(await start(home), world, given);
  });
});

describe('a log that was rolled back', () => {
  /** The folder and the witness are those of an earlier time; the server has uploads and votes of an epoch that was opened later. */
  async function rolledBack() {
    const home = freshHome();
    const { authority, world, ...given } = await used(home);
    await stop(authority);
    const [data, witness] = [join(home.root, 'old'), `${home.dataFolder}.witness`];
    cpSync(home.dataFolder, data, { recursive: true });
    cpSync(witness, `${data}.witness`);
    time.now += HOUR_MS / 2;
    const later = await start(home);
    const [lost] = (await world.epochs([later])) as [Epoch];
    const uploads = await world.uploads([later]);
    const votes = await votesOf(world, [later], uploads, [lost]);
    await stop(later);
    const again = await start({ ...home, dataFolder: data });
    expect((await world.standing(again)).epoch.number).toBe(lost.number);
    const alive = await world.inspected(again, given.uploads, given.epochs);
    expect(alive.verdicts.map(({ verdict }) => verdict)).toEqual(['good', 'good', 'good']);
    return { again, world, given, lost, uploads, votes };
  }

  it('with its witness is noticed when the server shows an epoch that is not in it', async () => {
    const { again, world, given, lost } = await rolledBack();
    await world.inspected(again, given.uploads, [...given.epochs, lost]);
    await expectDead(again, world, given);
  });

  it('with its witness is noticed when the server asks for the masks of such an epoch', async () => {
    const { again, world, given, lost, uploads, votes } = await rolledBack();
    const request = world.releaseRequest({ uploads, epochs: [lost], votes, wanted: VECTOR });
    expect((await world.release(again, request)).code).toBe('epoch-over');
    await expectDead(again, world, given);
  });

  it('is not assumed because of an epoch with another signer, or of an epoch that has ended here', async () => {
    const home = freshHome();
    const { authority, world, epochs, uploads } = await used(home);
    const [epoch] = epochs as [Epoch];
    const forged = { ...epoch, number: 9, signature: world.server.signer.sign(new Uint8Array(3)) };
    await world.inspected(authority, uploads, [epoch, forged]);
    time.now += 4 * HOUR_MS;
    await authority.tick();
    await world.inspected(authority, uploads, epochs);
    const report = await logReport(authority);
    expect([report.counts['branch-begun'], report.problems]).toEqual([0, []]);
  });
});
