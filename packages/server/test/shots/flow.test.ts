/** The one message of a device, from its first byte to the version that it is in. */

import { signingDevice } from '@basa/conformance/signing-device.ts';
import { toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { type SceneOptions, type SentShot, ShotScene, stepOf } from '@basa/testkit/world/shots.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TaskAdmission } from '../../src/admission/task-admission.ts';
import { ShotIntake } from '../../src/shots/intake.ts';

let scene: ShotScene;
afterEach(() => scene.close());

async function shots(count: number, options: SceneOptions = {}): Promise<readonly SentShot[]> {
  scene = await ShotScene.open(options);
  const made: SentShot[] = [];
  for (let n = 0; n < count; n++) made.push(await scene.shot());
  return made;
}

const problem = (code: string) => ({ json: { type: `urn:basa:problem:${code}` } });

describe.each([1, 4] as const)('with %i authorities', (count) => {
  it('a full batch becomes a version with the exact mean, and every device gets the outcome', async () => {
    const four = await shots(4, { count });
    for (const shot of four)
      expect(await scene.send(shot)).toMatchObject({
        status: 200,
        json: { accepted: true, received: shot.body.length },
      });
    expect(await scene.reached(1)).toEqual(stepOf(four));
    for (const shot of four) expect(await scene.fateIs(shot, 'included')).toMatchObject({ version: 1 });
    const [first] = four as [SentShot];
    const { ctx } = await scene.fate(first);
    const state = await (await scene.get(SERVER_PATH.batch(String(ctx)))).json();
    expect(state).toMatchObject({ ctx, status: 'included', version: 0, bufferSize: 4 });
    expect(state.users.toSorted()).toEqual(four.map(({ upload }) => toHex(upload.header.user)).sort());
    expect(await scene.send(first)).toMatchObject({ status: 200, json: { accepted: true } });
  });
});

it('uploads that wait are counted for operators', async () => {
  const two = await shots(2);
  await scene.send(two[0] as SentShot);
  await scene.send(two[1] as SentShot, 0, 40);
  const counted = async (): Promise<readonly string[]> => {
    const text = await (await scene.get('/metrics')).text();
    return [...text.matchAll(/^basa_shots\{.*state="(\w+)"\} (\d+)/gm)].map(([, state, count]) => `${state} ${count}`);
  };
  await scene.until(async () => (await counted()).join() === 'arriving 1,waiting 0,good 1');
});

describe('an upload', () => {
  it.each([
    ['guard words', 'body-mismatch', () => 0],
    ['sealed parts', 'part-invalid', (length: number) => length - 1],
  ])('with wrong %s is refused individually, and its device gets the reason', async (_, reason, place) => {
    const [bad, ...good] = await shots(5);
    const wrong = scene.changed(bad as SentShot, (body) => {
      const at = place(body.length);
      body[at] = ((body[at] as number) + 1) % 256;
    });
    for (const shot of [wrong, ...good]) expect(await scene.send(shot)).toMatchObject({ status: 200 });
    expect(await scene.fateIs(wrong, 'refused')).toEqual({ fate: 'refused', reason });
    expect(await scene.reached(1)).toEqual(stepOf(good));
  });

  it('with another body than the one its header names is not taken', async () => {
    const [shot] = (await shots(1)) as [SentShot];
    const body = shot.body.map((byte) => byte ^ 1);
    expect(await scene.send({ ...shot, body })).toMatchObject({ status: 422, ...problem('body-mismatch') });
    expect(await scene.standingOf(shot)).toMatchObject({ offset: '0' });
  });

  it('that names another user than its sender neither ends the place of that user nor writes into its upload', async () => {
    const [victim, shot] = (await shots(2)) as [SentShot, SentShot];
    const discarded = vi.spyOn(TaskAdmission.prototype, 'discard');
    await scene.send(victim, 0, 50);
    // A key that was never enrolled, a certificate that nobody signed, and the header of the victim or one that names it.
    const device = signingDevice();
    const certificate = { ...victim.upload.certificate, deviceKey: device.deviceKey, endorsements: [] };
    const { user } = victim.upload.header;
    for (const { upload, body } of [victim, scene.changed({ ...shot, device }, () => undefined, { user })]) {
      const foreign = { ...shot, device, upload: { ...upload, certificate }, body };
      expect(await scene.send(foreign)).toMatchObject({ status: 403, ...problem('not-yours') });
    }
    expect(discarded).not.toHaveBeenCalled();
    discarded.mockRestore();
    expect(await scene.standingOf(victim)).toMatchObject({ offset: '50' });
    expect(await scene.send(victim, 50)).toMatchObject({ status: 200, json: { accepted: true } });
  });

  it('that was never sent has no status here', async () => {
    const [shot] = (await shots(1)) as [SentShot];
    const response = await scene.get(SERVER_PATH.shotFate(scene.world.task, scene.nameOf(shot)));
    expect(response.status).toBe(404);
  });
});

describe('updates that no batch can be made of', () => {
  it('wait until more come, and are given with fewer than K if waiting does not pay', async () => {
    const [first, second, third] = (await shots(3, { stallMs: 300 })) as [SentShot, SentShot, SentShot];
    for (const shot of [first, second]) await scene.send(shot);
    for (let n = 0; n < 20; n++) await scene.turn();
    expect(await scene.fate(first)).toEqual({ fate: 'waiting' });
    await scene.send(third);
    expect(await scene.reached(1)).toEqual(stepOf([first, second, third]));
  });

  it('end with their version once it is too old', async () => {
    const [late, ...four] = await shots(5, { policy: { maxStaleness: 0 } });
    await scene.send(late as SentShot, 0, 10);
    for (const shot of four) await scene.send(shot);
    await scene.reached(1);
    expect(await scene.fateIs(late as SentShot, 'version-over')).toEqual({ fate: 'version-over' });
    expect(await scene.send(late as SentShot, 10)).toMatchObject({ status: 410, ...problem('version-over') });
  });

  it('end while the last byte of one is recorded, which is then not acknowledged', async () => {
    const [late, ...four] = (await shots(5, { policy: { maxStaleness: 0 } })) as [SentShot, ...SentShot[]];
    await scene.send(late, 0, 10);
    const { accept } = ShotIntake.prototype;
    vi.spyOn(ShotIntake.prototype, 'accept').mockImplementationOnce(async function (this: ShotIntake, shot) {
      for (const other of four) await scene.send(other);
      await scene.fateIs(late, 'version-over');
      return accept.call(this, shot);
    });
    expect(await scene.send(late, 10)).toMatchObject({ status: 410, offset: '0', ...problem('version-over') });
  });

  it('end with their epochs, when no authority can vote for them any more', async () => {
    const [shot] = (await shots(1)) as [SentShot];
    await scene.send(shot);
    await scene.until(() => scene.asked.includes('0 inspections'));
    scene.world.elapse(2 * 3_600_000 + 1000);
    expect(await scene.fateIs(shot, 'refused')).toEqual({ fate: 'refused', reason: 'epoch-over' });
  });
});
