/** A1 and A2: a colluder takes a position and its key, goes silent, and an honest user gets the same position. */
import { EMPTY_LEDGER } from '@basa/protocol';
import type { Attack } from './attack.ts';
import { PaperStage } from './paper-stage.ts';
import { SealedStage } from './sealed-stage.ts';
import { closeBuffer, giveSlotAgain } from './server-moves.ts';

export const A1: Attack = {
  id: 'A1',
  schedule: 'U0 and U1 upload; Eve takes k = 2 and SK_2 and goes silent; U2 gets k = 2',
  broken(setting) {
    const stage = new PaperStage(setting);
    stage.contribute('U0');
    stage.contribute('U1');
    stage.takeKeyAndGoSilent('Eve');
    stage.contribute('U2');
    return stage.result();
  },
  sealed(setting) {
    const stage = new SealedStage(setting);
    const [u0, u1, u2, u3] = stage.honestOnes('U0', 'U1', 'U2', 'U3');
    const eve = stage.colluder('Eve');
    stage.go(u0);
    stage.go(u1);
    stage.go(eve, 'key');
    giveSlotAgain(stage, u2, eve.ctx, 2);
    stage.go(u3);
    closeBuffer(stage, eve.ctx);
    return stage.result();
  },
};

export const A2: Attack = {
  id: 'A2',
  schedule: 'Eve times out at k = 1 with SK_1, and again at k = 2 with SK_2; U0, U1 and U2 upload',
  broken(setting) {
    const stage = new PaperStage(setting);
    stage.contribute('U0');
    stage.takeKeyAndGoSilent('Eve');
    stage.contribute('U1');
    stage.takeKeyAndGoSilent('Eve');
    stage.contribute('U2');
    return stage.result();
  },
  sealed(setting) {
    const stage = new SealedStage(setting);
    const [u0, u1, u2, u3] = stage.honestOnes('U0', 'U1', 'U2', 'U3');
    const eve = stage.colluder('Eve');
    stage.go(u0);
    stage.go(eve, 'key');
    const { ctx } = eve;
    giveSlotAgain(stage, u1, ctx, 1);
    // Eve asks for a second slot of the same buffer, with a deposit of its own and the server's blessing.
    eve.leave();
    eve.ledger = EMPTY_LEDGER; // a colluder keeps no rule of its own
    giveSlotAgain(stage, eve, ctx, 2);
    stage.go(u2);
    stage.go(u3);
    closeBuffer(stage, ctx);
    return stage.result();
  },
};
