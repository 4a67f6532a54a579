/**
 * N1: two processes have the folder of one device open, and each gives its update to a buffer of its own. That the second
 * one is kept out is the lock's work, which packages/client/test/device-lock.test.ts shows with real processes; this is what
 * it is for. A second process that comes after the first finds in the ledger what was given away.
 */
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { ALL_OF_THREE, SealedStage } from './sealed-stage.ts';
import { closeBuffer } from './server-moves.ts';

export const N1: Attack = {
  id: 'N1',
  schedule: 'U0 and U1 each run twice on one folder; their updates go into a buffer with V and into one with Eve',
  mutant: 'a folder that a second process opens while the first one has it',
  broken: (setting) => twoProcesses(setting, 'at once'),
  sealed: (setting) => twoProcesses(setting, 'one after the other'),
};

function twoProcesses(setting: AttackSetting, when: 'at once' | 'one after the other'): AttackResult {
  const stage = new SealedStage(setting, ALL_OF_THREE);
  const { server } = stage.world;
  const users = ['U0', 'U1'].map((name) => stage.honest(name));
  const victim = stage.honest('V');
  const early = users.map((device) => stage.secondProcess(device));
  for (const device of [...users, victim]) stage.go(device);
  closeBuffer(stage, victim.ctx);
  const second = when === 'at once' ? early : users.map((device) => stage.secondProcess(device));
  const ctx = server.drawBuffer();
  stage.lies.seat = () => server.buffer(ctx);
  for (const device of [...second, stage.colluder('Eve')]) stage.go(device);
  closeBuffer(stage, ctx);
  return stage.result();
}
