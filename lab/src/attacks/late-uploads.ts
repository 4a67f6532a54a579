/** B1 and B2: an upload comes too late, or in part, and another user is accepted at the same position. */

import { millis } from '@basa/protocol';
import { type FederationDevice, LEASE_MS } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { PaperStage } from './paper-stage.ts';
import { DIMENSION } from './sample-update.ts';
import { SealedStage } from './sealed-stage.ts';
import { closeBuffer, giveSlotAgain } from './server-moves.ts';

export const B1: Attack = {
  id: 'B1',
  schedule: 'Ua at k = 2 is late, but its bytes arrive; Ub is accepted at k = 2; nobody colludes',
  broken(setting) {
    const stage = new PaperStage(setting);
    lateAtTwo(stage, DIMENSION);
    stage.contribute('Ub');
    return stage.result();
  },
  sealed: (setting) =>
    lateInSealed(
      setting,
      (stage) => stage.honest('Ub'),
      (bytes) => bytes,
    ),
};

export const B2: Attack = {
  id: 'B2',
  schedule: 'half of the late bytes of Ua arrive; Ub, who colludes, is accepted at k = 2',
  broken(setting) {
    const stage = new PaperStage(setting);
    lateAtTwo(stage, DIMENSION / 2);
    stage.contributeAsColluder('Ub');
    return stage.result();
  },
  sealed: (setting) =>
    lateInSealed(
      setting,
      (stage) => stage.colluder('Ub'),
      (bytes, sealedBytes) => bytes.subarray(0, bytes.length - 2 * sealedBytes - (4 * DIMENSION) / 2),
    ),
};

function lateAtTwo(stage: PaperStage, elements: number): void {
  stage.contribute('U0');
  stage.contribute('U1');
  const connection = stage.connect('Ua');
  const late = stage.mask('Ua', connection);
  stage.timeOut();
  stage.arrive(connection, late, elements);
}

function lateInSealed(
  setting: AttackSetting,
  enrol: (stage: SealedStage) => FederationDevice,
  cut: (bytes: Uint8Array, sealedBytes: number) => Uint8Array,
): AttackResult {
  const stage = new SealedStage(setting);
  const [u0, u1, late, u3] = stage.honestOnes('U0', 'U1', 'Ua', 'U3');
  const second = enrol(stage);
  stage.go(u0);
  stage.go(u1);
  stage.go(late, 'key');
  late.receiveKeyAndFreeze('upload');
  stage.world.now = millis(stage.world.now + LEASE_MS + 1);
  // In slot 2 two backups follow the vector: the cut goes through the vector.
  stage.world.server.upload(cut(late.uploadBytes(), stage.world.sealings.sealing.sealedBytes));
  giveSlotAgain(stage, second, late.ctx, 2);
  stage.go(u3);
  // Slot 2 is dropped: its edge key is released, what opens its self seed never.
  closeBuffer(stage, late.ctx);
  return stage.result();
}
