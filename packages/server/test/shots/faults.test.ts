import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { filesBelow } from '@basa/testkit/services/snapshot.ts';
import type { AuthorityParty } from '@basa/testkit/world/authority-party.ts';
import { operate } from '@basa/testkit/world/operator.ts';
import { type Asking, type SceneOptions, type SentShot, ShotScene, stepOf } from '@basa/testkit/world/shots.ts';
import type { Fault } from '@basa/testkit/world/wire.ts';
import { afterEach, describe, expect, it } from 'vitest';

let scene: ShotScene;
afterEach(() => scene.close());

async function shots(count: number, options: SceneOptions = {}): Promise<readonly SentShot[]> {
  scene = await ShotScene.open(options);
  const made: SentShot[] = [];
  for (let n = 0; n < count; n++) made.push(await scene.shot());
  return made;
}

async function sendAll(all: readonly SentShot[]): Promise<void> {
  for (const shot of all) expect(await scene.send(shot)).toMatchObject({ status: 200, json: { accepted: true } });
}

/** The only authority comes back from a copy of its disk: it has its devices, and none of its units. */
async function loseUnits(): Promise<void> {
  const [authority] = scene.world.authorities;
  await authority?.copied()();
}

describe('a server that stops', () => {
  // Requests without an answer hold the uploads up in a durable state: waiting, in a frozen batch, and granted.
  it.each<[string, Asking, Fault, SceneOptions]>([
    ['before it is told what uploads are', 'inspections', 'lost', { count: 4 }],
    ['before it has asked for votes', 'batch-votes', 'lost', { count: 4 }],
    ['after authorities voted, and before it knows their votes', 'batch-votes', 'answer-lost', {}],
    ['before it has asked for masks', 'releases', 'lost', { count: 4 }],
    ['after authorities released the masks, and before it has them', 'releases', 'answer-lost', {}],
  ])('%s continues at the same point', async (_, asking, fault, options) => {
    const four = await shots(4, options);
    const { asked, world } = scene;
    const isLost = ({ path }: { readonly path: string }) => (path.endsWith(`/${asking}`) ? fault : undefined);
    world.wire.faults.push(isLost);
    await sendAll(four);
    await scene.until(() => asked.some((one) => one.endsWith(` ${asking}`)));
    await world.restartServer();
    for (const shot of four) expect(await scene.fate(shot)).toEqual({ fate: 'waiting' });
    world.wire.faults.splice(world.wire.faults.indexOf(isLost), 1);
    await scene.retry();
    await expectOnce(four);
  });

  it('between storing a model and recording it makes that version once', async () => {
    const startsAt = 1_800_000_000_000;
    let [isOpen, isDying, hasDied] = [false, false, false];
    const hasModel = (): boolean => {
      const folder = join(scene.world.folder, 'server/blobs/models', scene.world.task);
      return filesBelow(folder).some((name) => name.startsWith('1-'));
    };
    const clock = (): number => {
      hasDied ||= isDying && hasModel();
      if (hasDied) throw new Error('the server is dead');
      return isOpen ? scene.world.clock() : startsAt;
    };
    const four = await shots(4, { startsAt, server: { clock } });
    [isOpen, isDying] = [true, true];
    for (const shot of four) await scene.send(shot).catch(() => undefined);
    await scene.until(() => hasDied);
    [isDying, hasDied] = [false, false];
    await scene.world.restartServer();
    await expectOnce(four);
  });
});

/** One version, made of each update once, and nothing is left of the batch. */
async function expectOnce(shots: readonly SentShot[]): Promise<void> {
  expect(await scene.reached(1)).toEqual(stepOf(shots));
  for (const shot of shots) expect(await scene.fateIs(shot, 'included')).toMatchObject({ version: 1 });
  await scene.until(() => filesBelow(join(scene.world.folder, 'server/blobs/uploads')).length === 0);
  const { versions } = await (await scene.get(SERVER_PATH.taskMetrics(scene.world.task))).json();
  expect(versions).toMatchObject([{ version: 0 }, { version: 1, accepted: shots.length, dropped: 0 }]);
}

describe('authorities', () => {
  it('may be one away of four', async () => {
    const four = await shots(4, { count: 4 });
    scene.away.add(2);
    await sendAll(four);
    expect(await scene.reached(1)).toEqual(stepOf(four));
  });

  it('may be one of four that signs wrong sums of masks', async () => {
    const four = await shots(4, { count: 4 });
    scene.lying.add(0);
    await sendAll(four);
    expect(await scene.reached(1)).toEqual(stepOf(four));
  });

  it('that have forgotten inspected uploads get them again', async () => {
    const four = await shots(4, { count: 4 });
    scene.blocked.add('batch-votes');
    await sendAll(four);
    await scene.until(() => scene.asked.includes('3 batch-votes'));
    for (const authority of scene.world.authorities) await authority.restart();
    await scene.answerAgain();
    expect(await scene.reached(1)).toEqual(stepOf(four));
  });

  it('that forget uploads after repeated restarts do not cause a refusal', async () => {
    const four = await shots(4);
    scene.blocked.add('batch-votes');
    await sendAll(four);
    await scene.until(() => scene.asked.includes('0 batch-votes'));
    const { authorities, wire } = scene.world;
    const [authority] = authorities as [AuthorityParty];
    await authority.restart();
    wire.readers.push(({ path }) => {
      if (path.endsWith('/inspections')) scene.blocked.add('batch-votes');
      return undefined;
    });
    await scene.answerAgain();
    await scene.until(() => scene.blocked.has('batch-votes'));
    wire.readers.pop();
    await authority.restart();
    await scene.answerAgain();
    expect(await scene.reached(1)).toEqual(stepOf(four));
  });

  it('that lost the epochs of a batch before they voted for it leave its updates out', async () => {
    const four = await shots(4);
    scene.blocked.add('batch-votes');
    await sendAll(four);
    await scene.until(() => scene.asked.includes('0 batch-votes'));
    await loseUnits();
    await scene.answerAgain();
    for (const shot of four)
      expect(await scene.fateIs(shot, 'refused')).toEqual({ fate: 'refused', reason: 'epoch-over' });
    // The dissolved batch is over: it is not asked about again.
    const { asked } = scene;
    const before = asked.length;
    await scene.retry();
    await scene.retry();
    expect(asked.slice(before).filter((one) => one.endsWith(' batch-votes'))).toEqual([]);
  });

  it('that are the only ones and lie about a sum cause its quarantine, and the next version is not affected', async () => {
    const four = await shots(4);
    scene.lying.add(0);
    await sendAll(four);
    for (const shot of four) expect(await scene.fateIs(shot, 'quarantined')).toHaveProperty('ctx');
    expect(await scene.reached(1)).toEqual(stepOf([]));
  });

  it('that spoil a sum cost those that are left their update too: it is given up before the model is repeated', async () => {
    const six = await shots(6, { stallMs: 200 });
    scene.lying.add(0);
    await sendAll(six.slice(0, 5));
    expect(await scene.reached(1)).toEqual(stepOf([]));
    expect(await scene.fateIs(six[4] as SentShot, 'version-over')).toEqual({ fate: 'version-over' });
    const { json } = await scene.send(six[5] as SentShot);
    expect(json).toMatchObject({ type: expect.stringContaining('version-over') });
  });

  it('whose epochs end before a batch was full have the newest model repeated once, for devices that gave on it', async () => {
    const lost = await shots(3);
    await sendAll(lost);
    scene.world.elapse(2 * 3_600_000 + 1000); // the units of their epoch are destroyed
    expect(await scene.reached(1)).toEqual(stepOf([]));
    await scene.world.restartServer();
    await scene.reached(1);
    expect((await scene.shown()).statement.version).toBe(1);
  }, 20_000);

  it('that refuse different devices do not strand the others, although every upload was good when it came', async () => {
    const five = await shots(5, { count: 4 });
    const [first, second, third, ...rest] = five as [SentShot, SentShot, SentShot, ...SentShot[]];
    await sendAll([first, second, third]);
    await scene.until(async () => (await (await scene.get('/metrics')).text()).includes('state="good"} 3'));
    for (const [index, { upload }] of [first, second].entries()) {
      const { url } = scene.world.authorities[index] as AuthorityParty;
      const user = toHex(upload.header.user);
      await operate(scene.world.wire.fetch, 'POST', new URL(AUTHORITY_PATH.revocations, url), { user });
    }
    scene.world.elapse(16 * 60_000); // the server has them inspected again
    await sendAll(rest);
    expect(await scene.reached(1)).toEqual(stepOf([first, third, ...rest]));
    expect(await scene.fate(second)).toEqual({ fate: 'waiting' });
  });

  it('that gave up the epochs of a final batch have a version leave it out, and its devices give on that version', async () => {
    const four = await shots(4);
    scene.blocked.add('releases');
    await sendAll(four);
    await scene.until(() => scene.asked.includes('0 releases'));
    await loseUnits();
    await scene.answerAgain();
    for (const shot of four) expect(await scene.fateIs(shot, 'quarantined')).toHaveProperty('ctx');
    expect(await scene.reached(1)).toEqual(stepOf([]));
  });
});

describe('a server that was restored', () => {
  it('ends the uploads of a batch that it has forgotten, because authorities voted for that batch', async () => {
    const [extra, ...three] = await shots(4, { count: 4, stallMs: 200 });
    const { blocked, asked } = scene;
    blocked.add('inspections');
    await sendAll(three);
    const restore = scene.world.copiedServer();
    await scene.answerAgain();
    blocked.add('releases');
    await scene.until(() => asked.some((one) => one.endsWith(' releases')));
    blocked.add('inspections');
    await restore();
    await sendAll([extra as SentShot]);
    await scene.answerAgain();
    for (const shot of three)
      expect(await scene.fateIs(shot, 'refused')).toEqual({ fate: 'refused', reason: 'upload-used' });
    expect(await scene.fate(extra as SentShot)).toMatchObject({ fate: 'waiting' });
  });
});
