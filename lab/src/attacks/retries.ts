/** C1: one user sends twice under the same seeds, with an update that was trained or quantised again in between. */
import { buildInput, maskInput } from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { Attack } from './attack.ts';
import { PaperStage } from './paper-stage.ts';
import { SealedStage, sessionOf } from './sealed-stage.ts';
import { closeBuffer } from './server-moves.ts';

export const C1: Attack = {
  id: 'C1',
  schedule: 'the upload of U2 at k = 2 seems lost; it trains again, connects again and uploads under the same seeds',
  broken(setting) {
    const stage = new PaperStage(setting);
    stage.contribute('U0');
    stage.contribute('U1');
    const connection = stage.connect('U2');
    stage.arrive(connection, stage.mask('U2', connection, 'U2 before'));
    stage.timeOut();
    stage.contribute('U2');
    return stage.result();
  },
  sealed(setting) {
    const stage = new SealedStage(setting);
    const [u0, u1, u2, u3] = stage.honestOnes('U0', 'U1', 'U2', 'U3');
    stage.go(u0);
    stage.go(u1);
    // The server has the bytes and says it has not.
    stage.go(u2, 'key');
    u2.receiveKeyAndFreeze('upload');
    const { server, environment, now } = stage.world;
    server.upload(u2.uploadBytes());
    const { ctx } = u2;
    const { descriptor } = server.buffer(ctx);
    const retrained = granted(
      buildInput(descriptor, {
        delta: stage.update(u2, 1),
        trainedOn: descriptor.version,
        randomWords: environment.randomWords(8),
      }),
    );
    u2.restart();
    const masked = maskInput(u2.ports, sessionOf(u2), retrained.vector);
    if (masked.kind === 'refused') stage.note(masked);
    else throw new Error(`masked another input at ${now}`);
    // The same bytes again, and the update once more in another buffer.
    stage.go(u2);
    u2.leave();
    stage.go(u2, 'upload', 1);
    stage.go(u3);
    closeBuffer(stage, u0.ctx);
    return stage.result();
  },
};
