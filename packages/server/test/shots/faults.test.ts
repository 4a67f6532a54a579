import type { Asking } from '@basa/testkit/services/core-authorities.ts';
import { type SceneOptions, type SentShot, ShotScene, stepOf, until } from '@basa/testkit/services/shot-scene.ts';
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

describe('a server that stops', () => {
  // Unanswered requests hold the uploads up in a durable state: waiting, in a frozen batch, and granted.
  it.each<Asking>(['inspections', 'batch-votes', 'releases'])(
    'while %s are not answered continues at the same point',
    async (asking) => {
      const four = await shots(4, { count: 4 });
      const { blocked, asked } = scene.authorities;
      blocked.add(asking);
      await sendAll(four);
      await until(() => asked.some((one) => one.endsWith(` ${asking}`) && asked.length > 0));
      await scene.restart();
      for (const shot of four) expect(await scene.fate(shot)).toEqual({ fate: 'waiting' });
      await scene.answerAgain();
      expect([...(await scene.reached(1))]).toEqual(stepOf(four));
      for (const shot of four) expect(await scene.fateIs(shot, 'included')).toMatchObject({ version: 1 });
    },
  );
});

describe('authorities', () => {
  it('may be one away of four', async () => {
    const four = await shots(4, { count: 4 });
    scene.authorities.away.add(2);
    await sendAll(four);
    expect([...(await scene.reached(1))]).toEqual(stepOf(four));
  });

  it.each([0, 1, 2, 3])('may be one of four that signs wrong sums of masks (%i)', async (liar) => {
    const four = await shots(4, { count: 4 });
    scene.authorities.lying.add(liar);
    await sendAll(four);
    expect([...(await scene.reached(1))]).toEqual(stepOf(four));
  });

  it('that have forgotten inspected uploads get them again', async () => {
    const four = await shots(4, { count: 4 });
    scene.authorities.blocked.add('batch-votes');
    await sendAll(four);
    await until(() => scene.authorities.asked.includes('3 batch-votes'));
    for (const { examined } of scene.authorities.all) examined.clear();
    await scene.answerAgain();
    expect([...(await scene.reached(1))]).toEqual(stepOf(four));
  });

  it('that forget uploads after repeated restarts do not cause a refusal', async () => {
    const four = await shots(4);
    scene.authorities.blocked.add('batch-votes');
    await sendAll(four);
    await until(() => scene.authorities.asked.includes('0 batch-votes'));
    const examined = scene.authorities.all[0]?.examined ?? new Map();
    examined.clear();
    let shown = 0;
    examined.set = (name, value) => (++shown <= four.length ? examined : Map.prototype.set.call(examined, name, value));
    await scene.answerAgain();
    expect([...(await scene.reached(1))]).toEqual(stepOf(four));
    expect(shown).toBe(2 * four.length);
  });

  it('that lost the epochs of a batch before they voted for it leave its updates out', async () => {
    const four = await shots(4);
    scene.authorities.blocked.add('batch-votes');
    await sendAll(four);
    await until(() => scene.authorities.asked.includes('0 batch-votes'));
    const [authority] = scene.authorities.all;
    authority?.restore();
    authority?.examined.clear();
    await scene.answerAgain();
    for (const shot of four)
      expect(await scene.fateIs(shot, 'refused')).toEqual({ fate: 'refused', reason: 'epoch-over' });
    // The dissolved batch is over: it is neither kept nor asked about again.
    const { asked } = scene.authorities;
    const before = asked.length;
    await scene.retry();
    await scene.retry();
    expect(scene.server.buffersInMemory()).toBe(0);
    expect(asked.slice(before).filter((one) => one.endsWith(' batch-votes'))).toEqual([]);
  });

  it('that are the only ones and lie about a sum cause its quarantine, and the next version is not affected', async () => {
    const four = await shots(4);
    scene.authorities.lying.add(0);
    await sendAll(four);
    for (const shot of four) expect(await scene.fateIs(shot, 'quarantined')).toHaveProperty('ctx');
    expect([...(await scene.reached(1))]).toEqual(stepOf([]));
  });

  it('that spoil a sum cost those that are left their update too: it is given up before the model is repeated', async () => {
    const six = await shots(6, { stallMs: 200 });
    scene.authorities.lying.add(0);
    await sendAll(six.slice(0, 5));
    expect([...(await scene.reached(1))]).toEqual(stepOf([]));
    expect(await scene.fateIs(six[4] as SentShot, 'version-over')).toEqual({ fate: 'version-over' });
    const { json } = await scene.send(six[5] as SentShot);
    expect(json).toMatchObject({ type: expect.stringContaining('version-over') });
  });

  it('whose epochs end before a batch was full have the newest model repeated once, for devices that gave on it', async () => {
    const lost = await shots(3);
    await sendAll(lost);
    scene.elapse(2 * 3_600_000 + 1000); // the units of their epoch are destroyed
    expect([...(await scene.reached(1))]).toEqual(stepOf([]));
    await scene.restart();
    await scene.reached(1);
    expect((await scene.shown()).statement.version).toBe(1);
  }, 20_000);

  it('that refuse different devices do not strand the others, although every upload was good when it came', async () => {
    const five = await shots(5, { count: 4 });
    const [first, second, third, ...rest] = five as [SentShot, SentShot, SentShot, ...SentShot[]];
    await sendAll([first, second, third]);
    await until(async () => (await (await scene.operatorGet('/metrics')).text()).includes('state="good"} 3'));
    for (const [index, { upload }] of [first, second].entries()) {
      scene.authorities.all[index]?.base.revoke(upload.header.user);
    }
    scene.elapse(16 * 60_000); // after that, the votes of others do not excuse a revocation
    await sendAll(rest);
    expect([...(await scene.reached(1))]).toEqual(stepOf([first, third, ...rest]));
    expect(await scene.fate(second)).toEqual({ fate: 'waiting' });
  });

  it('that gave up the epochs of a final batch have a version leave it out, and its devices give on that version', async () => {
    const four = await shots(4);
    scene.authorities.blocked.add('releases');
    await sendAll(four);
    await until(() => scene.authorities.asked.includes('0 releases'));
    const [authority] = scene.authorities.all;
    authority?.restore();
    await scene.answerAgain();
    for (const shot of four) expect(await scene.fateIs(shot, 'quarantined')).toHaveProperty('ctx');
    expect([...(await scene.reached(1))]).toEqual(stepOf([]));
  });
});

describe('a server that was restored', () => {
  it('ends the uploads of a batch that it has forgotten, because authorities voted for that batch', async () => {
    const [extra, ...three] = await shots(4, { count: 4, stallMs: 200 });
    const { blocked, asked } = scene.authorities;
    blocked.add('inspections');
    await sendAll(three);
    let restore = (): void => undefined;
    await scene.restart(() => {
      restore = scene.backup();
    });
    await scene.answerAgain();
    blocked.add('releases');
    await until(() => asked.some((one) => one.endsWith(' releases')));
    await scene.restart(() => {
      restore();
      blocked.add('inspections');
    });
    await sendAll([extra as SentShot]);
    await scene.answerAgain();
    for (const shot of three)
      expect(await scene.fateIs(shot, 'refused')).toEqual({ fate: 'refused', reason: 'upload-used' });
    expect(await scene.fate(extra as SentShot)).toMatchObject({ fate: 'waiting' });
  });
});
