/**
 * N1: two processes open the folder of one device, and each gives the update to a different buffer. The lock stops the second process;
 * packages/client/test/device-lock.test.ts shows this with real processes. This attack shows why the lock is needed. A second process that
 * starts after the first one has ended finds the earlier contribution in the ledger.
 */
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer } from './server-moves.ts';

export const N1: Attack = {
  id: 'N1',
  schedule: 'U0 and U1 each run twice on one folder; their updates enter a buffer with V and another buffer with Eve',
  mutant: 'a folder that a second process opens while the first process uses it',
  broken: (setting) => twoProcesses(setting, 'at once'),
  sealed: (setting) => twoProcesses(setting, 'one after the other'),
};

function twoProcesses(setting: AttackSetting, when: 'at once' | 'one after the other'): AttackResult {
  const scene = new SealedScene(setting, ALL_OF_THREE);
  const { server } = scene.world;
  const users = ['U0', 'U1'].map((name) => scene.honest(name));
  const victim = scene.honest('V');
  const early = users.map((device) => scene.secondProcess(device));
  for (const device of [...users, victim]) scene.go(device);
  closeBuffer(scene, victim.ctx);
  const second = when === 'at once' ? early : users.map((device) => scene.secondProcess(device));
  const ctx = server.drawBuffer();
  scene.lies.seat = () => server.buffer(ctx);
  for (const device of [...second, scene.colluder('Eve')]) scene.go(device);
  closeBuffer(scene, ctx);
  return scene.result();
}
