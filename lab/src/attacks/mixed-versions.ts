/** O1: one buffer mixes versions, and the server gave all users but one a model on which updates nearly vanish. */
import type { Ctx, Versions } from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { LEVEL } from './sample-update.ts';
import { ALL_OF_THREE, SealedStage } from './sealed-stage.ts';
import { closeBuffer, tellTheTruth } from './server-moves.ts';

/** Logged by the server: tiny weights leave tiny gradients. They are not zero, so that no block vanishes. */
const QUIET_VERSION = 1;
const NORMAL_VERSION = 2;
const QUIET = 1.5 / LEVEL;
const VICTIM = 'U2';

export const O1: Attack = {
  id: 'O1',
  schedule:
    'version 1 is a model on which updates nearly vanish, version 2 a normal one; U0 and U1 train on version 1, U2 on version 2, and the server seats all of them in one buffer',
  mutant: 'a task that mixes versions in a buffer, as the paper does',
  broken: (setting) => isolated(setting, 'unsafeMixed'),
  sealed: (setting) => isolated(setting, 'one'),
};

function isolated(setting: AttackSetting, versions: Versions): AttackResult {
  const stage = new SealedStage(setting, { ...ALL_OF_THREE, versions });
  const { server } = stage.world;
  for (const round of ['V', 'W']) makeVersion(stage, round);
  let shared: Ctx | undefined;
  for (const name of ['U0', 'U1']) {
    const device = stage.honest(name);
    const quiet = stage.update(device).map((value) => QUIET * value);
    granted(stage.offer(device, quiet, 'upload', QUIET_VERSION));
    shared = device.ctx;
  }
  const victim = stage.honest(VICTIM);
  const update = stage.update(victim);
  // The server shows the victim the buffer of the others, then one of its own version.
  stage.lies.seat = () => server.buffer(shared as Ctx);
  const answer = stage.offer(victim, update, 'upload', NORMAL_VERSION);
  tellTheTruth(stage);
  if (answer.kind === 'refused') stage.offer(victim, update, 'upload', NORMAL_VERSION);
  for (const { ctx, status } of server.buffers.values()) if (status === 'filling') closeBuffer(stage, ctx);
  return stage.nearResult();
}

function makeVersion(stage: SealedStage, round: string): void {
  const devices = [0, 1, 2].map((n) => stage.honest(`${round}${n}`));
  for (const device of devices) stage.go(device);
  const [first] = devices;
  if (first !== undefined) stage.world.server.finish(first.ctx);
}
