/** Versions that are made of several batches: opened sums wait for each other, and none is lost, doubled or stuck. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_PATH } from '@basa/protocol/http';
import { ONE_SHOT_DEFAULTS, type OneShotPolicy } from '@basa/protocol/policy';
import { type SceneOptions, type SentShot, ShotScene, stepOf } from '@basa/testkit/world/shots.ts';
import { afterEach, describe, expect, it } from 'vitest';

let scene: ShotScene;
afterEach(() => scene.close());

/** Longer than a slow machine takes for a batch; the tests move the clock. */
const STALL_MS = 600_000;

function open(lines: Partial<OneShotPolicy>, more: SceneOptions = {}): Promise<ShotScene> {
  // On a slow machine three of four uploads could be a batch before the last one comes.
  return ShotScene.open({ ...more, policy: { minimum: 4 }, oneShot: lines });
}

async function fourSent(): Promise<readonly SentShot[]> {
  const shots: SentShot[] = [];
  for (let n = 0; n < 4; n++) shots.push(await scene.shot());
  for (const shot of shots) expect(await scene.send(shot)).toMatchObject({ status: 200, json: { accepted: true } });
  return shots;
}

/** Four uploads are a batch; it is opened when this is over. */
async function batch(): Promise<readonly SentShot[]> {
  const before = await openedByRecord();
  const shots = await fourSent();
  await scene.until(async () => (await openedByRecord()) > before || (await newest()).version > 0);
  return shots;
}

/** The means that lie in the server's folder. */
function openedSums(): readonly string[] {
  const folder = join(scene.world.folder, 'server', 'blobs', 'uploads');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => existsSync(join(folder, name, 'mean')));
}

interface Version {
  readonly version: number;
  readonly sums: readonly string[];
  readonly spoilt: readonly string[];
}

async function newest(): Promise<Version> {
  const response = await scene.get(SERVER_PATH.taskMetrics(scene.world.task));
  const { versions } = (await response.json()) as { versions: readonly Version[] };
  return versions.at(-1) as Version;
}

/** The number of sums with a durable record that they are opened, according to the server. */
async function openedByRecord(): Promise<number> {
  const response = await scene.get(SERVER_PATH.task(scene.world.task));
  const { batches, admission } = (await response.json()) as { batches: number; admission: { waitingBatches: number } };
  return batches - admission.waitingBatches;
}

async function expectIncluded(shots: readonly SentShot[], expected = 1): Promise<void> {
  const names = new Set((await newest()).sums);
  for (const shot of shots) {
    const { ctx, version } = await scene.fateIs(shot, 'included');
    expect([version, names.has(String(ctx))]).toEqual([expected, true]);
  }
}

describe('a version of three batches', () => {
  it('waits for all of them, through restarts, and names each of them once', async () => {
    scene = await open({ stepUpdates: 12 });
    const first = await batch();
    await scene.world.restartServer();
    const second = await batch();
    await scene.world.restartServer();
    for (const shot of [...first, ...second]) expect(await scene.fate(shot)).toEqual({ fate: 'waiting' });
    expect((await newest()).version).toBe(0);
    const all = [...first, ...second, ...(await batch())];
    expect(await scene.reached(1)).toEqual(stepOf(all));
    await expectIncluded(all);
    expect(await newest()).toMatchObject({ version: 1, sums: { length: 3 }, spoilt: [] });
    await scene.until(() => openedSums().length === 0);
  });

  it('contains a sum once if the server died between storing the mean and its record', async () => {
    let isDying = false;
    let hasDied = false;
    const clock = (): number => {
      hasDied ||= isDying && openedSums().length === 2;
      if (hasDied) throw new Error('the server is dead');
      return scene.world.clock();
    };
    scene = await open({ stepUpdates: 12 }, { server: { clock: () => (scene === undefined ? Date.now() : clock()) } });
    const first = await batch();
    isDying = true;
    const second: SentShot[] = [];
    for (let n = 0; n < 4; n++) second.push(await scene.shot());
    for (const shot of second) await scene.send(shot).catch(() => undefined);
    await scene.until(() => hasDied);
    [isDying, hasDied] = [false, false];
    await scene.world.restartServer();
    for (const shot of second) expect(await scene.send(shot)).toMatchObject({ status: 200 });
    await scene.until(() => openedSums().length === 2);
    const all = [...first, ...second, ...(await batch())];
    expect(await scene.reached(1)).toEqual(stepOf(all));
    await expectIncluded(all);
  });
});

describe('a version', () => {
  it('is made of fewer batches if no more of them come', async () => {
    scene = await open({ stepUpdates: 12 }, { stallMs: STALL_MS });
    const two = [...(await batch()), ...(await batch())];
    expect((await newest()).version).toBe(0);
    scene.world.elapse(STALL_MS);
    expect(await scene.reached(1)).toEqual(stepOf(two));
    await expectIncluded(two);
    expect(await newest()).toMatchObject({ sums: { length: 2 } });
  });

  it('waits no longer than the time of a step, even if it is unknown when the next device comes', async () => {
    scene = await open({ stepUpdates: 12 });
    const one = await batch();
    expect((await newest()).version).toBe(0);
    scene.world.elapse(ONE_SHOT_DEFAULTS.stepWindowMs);
    expect(await scene.reached(1)).toEqual(stepOf(one));
  });

  it('leaves a spoilt batch out, and names it', async () => {
    scene = await open({ stepUpdates: 8 });
    scene.lying.add(0);
    const lied: SentShot[] = [];
    for (let n = 0; n < 4; n++) lied.push(await scene.shot());
    for (const shot of lied) await scene.send(shot);
    await scene.until(async () => (await openedByRecord()) === 1);
    await scene.world.restartServer();
    scene.lying.clear();
    const good = await batch();
    expect(await scene.reached(1)).toEqual(stepOf(good));
    await expectIncluded(good);
    for (const shot of lied) await scene.fateIs(shot, 'quarantined');
    expect(await newest()).toMatchObject({ sums: { length: 1 }, spoilt: { length: 1 } });
  });

  it('with a trimmed mean ignores the values of a single extreme batch, and waits for five batches', async () => {
    scene = await open({ stepUpdates: 20, combine: 'trimmed' }, { stallMs: STALL_MS });
    const four = [...(await batch()), ...(await batch()), ...(await batch()), ...(await batch())];
    scene.world.elapse(STALL_MS);
    for (let n = 0; n < 20; n++) await scene.turn();
    for (const shot of four) expect(await scene.fate(shot)).toEqual({ fate: 'waiting' });
    const all = [...four, ...(await batch())];
    expect(await scene.reached(1)).toEqual(stepOf([]).map((value) => Math.abs(value)));
    await expectIncluded(all);
  });
});
