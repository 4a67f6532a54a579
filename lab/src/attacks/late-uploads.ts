/** B1 and B2: an upload comes too late, or in part, and another user is accepted at the same position. */

import { millis } from '@basa/protocol';
import { type FederationDevice, LEASE_MS } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { PaperScene } from './paper-scene.ts';
import { DIMENSION } from './sample-update.ts';
import { SealedScene } from './sealed-scene.ts';
import { closeBuffer, giveSlotAgain } from './server-moves.ts';

export const B1: Attack = {
  id: 'B1',
  schedule: 'Ua at k = 2 is late, but its bytes arrive; Ub is accepted at k = 2; nobody colludes',
  broken(setting) {
    const scene = new PaperScene(setting);
    lateAtTwo(scene, DIMENSION);
    scene.contribute('Ub');
    return scene.result();
  },
  sealed: (setting) =>
    lateInSealed(
      setting,
      (scene) => scene.honest('Ub'),
      (bytes) => bytes,
    ),
};

export const B2: Attack = {
  id: 'B2',
  schedule: 'half of the late bytes of Ua arrive; Ub is accepted at k = 2; Ub colludes',
  broken(setting) {
    const scene = new PaperScene(setting);
    lateAtTwo(scene, DIMENSION / 2);
    scene.contributeAsColluder('Ub');
    return scene.result();
  },
  sealed: (setting) =>
    lateInSealed(
      setting,
      (scene) => scene.colluder('Ub'),
      (bytes, sealedBytes) => bytes.subarray(0, bytes.length - 2 * sealedBytes - (4 * DIMENSION) / 2),
    ),
};

function lateAtTwo(scene: PaperScene, elements: number): void {
  scene.contribute('U0');
  scene.contribute('U1');
  const connection = scene.connect('Ua');
  const late = scene.mask('Ua', connection);
  scene.timeOut();
  scene.arrive(connection, late, elements);
}

function lateInSealed(
  setting: AttackSetting,
  enrol: (scene: SealedScene) => FederationDevice,
  cut: (bytes: Uint8Array, sealedBytes: number) => Uint8Array,
): AttackResult {
  const scene = new SealedScene(setting);
  const [u0, u1, late, u3] = scene.honestOnes('U0', 'U1', 'Ua', 'U3');
  const second = enrol(scene);
  scene.go(u0);
  scene.go(u1);
  scene.go(late, 'key');
  late.receiveKeyAndFreeze('upload');
  scene.world.now = millis(scene.world.now + LEASE_MS + 1);
  // In slot 2 two backups follow the vector: the cut goes through the vector.
  scene.world.server.upload(cut(late.uploadBytes(), scene.world.sealings.sealing.sealedBytes));
  giveSlotAgain(scene, second, late.ctx, 2);
  scene.go(u3);
  // Slot 2 is dropped: its edge key is released, but never the key of its self seed.
  closeBuffer(scene, late.ctx);
  return scene.result();
}
