/** G1: all but one user are told that the model is far ahead, so that their updates vanish in the quantiser. */
import { descriptorCodec } from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { Attack } from './attack.ts';
import { forgedAnswer, linkOf } from './forgery.ts';
import { PaperScene } from './paper-scene.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer, tellTheTruth } from './server-moves.ts';

/** S(t - tau) = (1 + 2^52)^-1/2: about 1.5e-8 of the update is left. */
const HUGE = 2 ** 52;
const STALENESS = { kind: 'polynomial', exponent: 0.5 } as const;

export const G1: Attack = {
  id: 'G1',
  schedule: 'the server tells all users but U2 a huge t, so that their weighted updates quantise to zero',
  broken(setting) {
    const scene = new PaperScene(setting, { staleness: STALENESS });
    for (const name of ['U0', 'U1', 'U2']) {
      const honest = scene.connect(name);
      const connection = name === 'U2' ? honest : { ...honest, version: HUGE };
      const prepared = scene.mask(name, connection);
      scene.arrive(connection, prepared);
      granted(scene.world.upload(scene.user(name), prepared));
    }
    return scene.result();
  },
  sealed(setting) {
    const scene = new SealedScene(setting, ALL_OF_THREE);
    const { server } = scene.world;
    const ctx = server.drawBuffer();
    const { descriptor, slotKeys } = server.buffer(ctx);
    const body = { ...descriptor, version: HUGE };
    // The authority's signature on other words, then the server's own.
    const lies = [body, { ...body, signature: server.ports.signer.sign(descriptorCodec.statement(body)) }];
    for (const [n, lie] of lies.entries()) {
      scene.lies.seat = () => ({ descriptor: lie, slotKeys });
      scene.lies.deposit = (bytes) => forgedAnswer(scene, linkOf(scene, bytes), []);
      scene.go(scene.honest(`V${n}`));
    }
    tellTheTruth(scene);
    for (const name of ['U0', 'U1', 'U2']) scene.go(scene.honest(name));
    closeBuffer(scene, ctx);
    return scene.result();
  },
};
