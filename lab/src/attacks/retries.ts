/** C1: one user sends twice under the same seeds, with an update that was trained or quantised again in between. */
import { buildInput, maskInput } from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { Attack } from './attack.ts';
import { PaperScene } from './paper-scene.ts';
import { SealedScene, sessionOf } from './sealed-scene.ts';
import { closeBuffer } from './server-moves.ts';

export const C1: Attack = {
  id: 'C1',
  schedule: 'the upload of U2 at k = 2 seems lost; it trains again, connects again and uploads under the same seeds',
  broken(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('U0');
    scene.contribute('U1');
    const connection = scene.connect('U2');
    scene.arrive(connection, scene.mask('U2', connection, 'U2 before'));
    scene.timeOut();
    scene.contribute('U2');
    return scene.result();
  },
  sealed(setting) {
    const scene = new SealedScene(setting);
    const [u0, u1, u2, u3] = scene.honestOnes('U0', 'U1', 'U2', 'U3');
    scene.go(u0);
    scene.go(u1);
    // The server has the bytes and denies it.
    scene.go(u2, 'key');
    u2.receiveKeyAndFreeze('upload');
    const { server, environment, now } = scene.world;
    server.upload(u2.uploadBytes());
    const { ctx } = u2;
    const { descriptor } = server.buffer(ctx);
    const retrained = granted(
      buildInput(descriptor, {
        delta: scene.update(u2, 1),
        trainedOn: descriptor.version,
        randomWords: environment.randomWords(8),
      }),
    );
    u2.restart();
    const masked = maskInput(u2.ports, sessionOf(u2), retrained.vector);
    if (masked.kind === 'refused') scene.note(masked);
    else throw new Error(`masked another input at ${now}`);
    // The same bytes again, and the update once more in another buffer.
    scene.go(u2);
    u2.leave();
    scene.go(u2, 'upload', 1);
    scene.go(u3);
    closeBuffer(scene, u0.ctx);
    return scene.result();
  },
};
