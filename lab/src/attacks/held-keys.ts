/** A1 and A2: a colluder takes a position and its key, goes silent, and an honest user gets the same position. */
import { EMPTY_LEDGER } from '@basa/protocol';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { PaperScene } from './paper-scene.ts';
import { SealedScene } from './sealed-scene.ts';
import { closeBuffer, giveSlotAgain } from './server-moves.ts';

export const A1: Attack = {
  id: 'A1',
  schedule: 'U0 and U1 upload; Eve takes k = 2 and SK_2 and goes silent; U2 gets k = 2',
  broken: (setting) => inTurns(setting, 'U0', 'U1', 'Eve', 'U2'),
  sealed(setting) {
    const scene = new SealedScene(setting);
    const [u0, u1, u2, u3] = scene.honestOnes('U0', 'U1', 'U2', 'U3');
    const eve = scene.colluder('Eve');
    scene.go(u0);
    scene.go(u1);
    scene.go(eve, 'key');
    giveSlotAgain(scene, u2, eve.ctx, 2);
    scene.go(u3);
    closeBuffer(scene, eve.ctx);
    return scene.result();
  },
};

export const A2: Attack = {
  id: 'A2',
  schedule: 'Eve times out at k = 1 with SK_1, and again at k = 2 with SK_2; U0, U1 and U2 upload',
  broken: (setting) => inTurns(setting, 'U0', 'Eve', 'U1', 'Eve', 'U2'),
  sealed(setting) {
    const scene = new SealedScene(setting);
    const [u0, u1, u2, u3] = scene.honestOnes('U0', 'U1', 'U2', 'U3');
    const eve = scene.colluder('Eve');
    scene.go(u0);
    scene.go(eve, 'key');
    const { ctx } = eve;
    giveSlotAgain(scene, u1, ctx, 1);
    // Eve asks for a second slot of the same buffer, with her own deposit and the server's consent.
    eve.leave();
    eve.ledger = EMPTY_LEDGER; // a colluder follows no rule
    giveSlotAgain(scene, eve, ctx, 2);
    scene.go(u2);
    scene.go(u3);
    closeBuffer(scene, ctx);
    return scene.result();
  },
};

/** Users of the paper in this order; Eve takes a position with its key and goes silent. */
function inTurns(setting: AttackSetting, ...names: readonly string[]): AttackResult {
  const scene = new PaperScene(setting);
  for (const name of names) {
    if (name === 'Eve') scene.takeKeyAndGoSilent(name);
    else scene.contribute(name);
  }
  return scene.result();
}
