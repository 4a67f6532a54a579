/**
 * P1: one device contributes several updates on one version, in sums of overlapping groups. With deterministic training the updates are
 * equal, so the sums can be subtracted.
 */
import type { Versions } from '@basa/protocol';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer } from './server-moves.ts';

export const P1: Attack = {
  id: 'P1',
  schedule:
    'U0 and U1 train on the same version twice, with the same result; the server puts them into a buffer with U2, and then into a buffer with U3',
  mutant: 'a device that gives any number of updates on one version',
  broken: (setting) => overlapping(setting, 'unsafeMixed'),
  sealed: (setting) => overlapping(setting, 'one'),
};

function overlapping(setting: AttackSetting, versions: Versions): AttackResult {
  const scene = new SealedScene(setting, { ...ALL_OF_THREE, versions });
  const [first, second, ...others] = scene.honestOnes('U0', 'U1', 'U2', 'U3');
  for (const other of others) {
    for (const device of [first, second, other]) {
      if (device.session !== undefined) device.newUpdate();
      scene.go(device);
    }
    // The sum makes no version, as with a server that reports it spoilt.
    for (const { ctx, status } of scene.world.server.buffers.values())
      if (status === 'filling') closeBuffer(scene, ctx);
  }
  return scene.result();
}
