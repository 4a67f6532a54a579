/** O1: one buffer mixes versions, and the server gave all users but one a model on which updates nearly vanish. */
import type { Ctx, Versions } from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { LEVEL } from './sample-update.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer, tellTheTruth } from './server-moves.ts';

/** The server logs this model. Its tiny weights cause tiny gradients, which are not zero, so that no block vanishes. */
const QUIET_VERSION = 1;
const NORMAL_VERSION = 2;
const QUIET = 1.5 / LEVEL;
const VICTIM = 'U2';

export const O1: Attack = {
  id: 'O1',
  schedule:
    'version 1 is a model on which updates nearly vanish, and version 2 is a normal model; U0 and U1 train on version 1, and U2 trains on version 2; the server puts all of them into one buffer',
  mutant: 'a task that mixes versions in a buffer, as the paper does',
  broken: (setting) => isolated(setting, 'unsafeMixed'),
  sealed: (setting) => isolated(setting, 'one'),
};

function isolated(setting: AttackSetting, versions: Versions): AttackResult {
  const scene = new SealedScene(setting, { ...ALL_OF_THREE, versions });
  const { server } = scene.world;
  for (const round of ['V', 'W']) makeVersion(scene, round);
  let shared: Ctx | undefined;
  for (const name of ['U0', 'U1']) {
    const device = scene.honest(name);
    const quiet = scene.update(device).map((value) => QUIET * value);
    granted(scene.offer(device, quiet, 'upload', QUIET_VERSION));
    shared = device.ctx;
  }
  const victim = scene.honest(VICTIM);
  const update = scene.update(victim);
  // The server shows the victim the buffer of the others, then a buffer of the victim's version.
  scene.lies.seat = () => server.buffer(shared as Ctx);
  const answer = scene.offer(victim, update, 'upload', NORMAL_VERSION);
  tellTheTruth(scene);
  if (answer.kind === 'refused') scene.offer(victim, update, 'upload', NORMAL_VERSION);
  for (const { ctx, status } of server.buffers.values()) if (status === 'filling') closeBuffer(scene, ctx);
  return scene.nearResult();
}

function makeVersion(scene: SealedScene, round: string): void {
  const devices = [0, 1, 2].map((n) => scene.honest(`${round}${n}`));
  for (const device of devices) scene.go(device);
  const [first] = devices;
  if (first !== undefined) scene.world.server.finish(first.ctx);
}
