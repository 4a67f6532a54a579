/** H1: the group is too small for K summands. Nothing is learned; the sum is wrong, and no party notices. */
import { ring, toSigned } from '@basa/masking';
import { descriptorCodec, taskIdOf } from '@basa/protocol';
import type { Attack } from './attack.ts';
import { PaperScene } from './paper-scene.ts';
import { LEVEL } from './sample-update.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer, tellTheTruth } from './server-moves.ts';

/** Holds one update of up to 2^10 - 1 in either direction, but not three. */
const TOO_SMALL = ring(11);

export const H1: Attack = {
  id: 'H1',
  schedule: 'q = 2^11 for three updates of up to 2^10 - 1 either way',
  broken(setting) {
    const scene = new PaperScene(setting, { modulus: TOO_SMALL });
    const inputs = ['U0', 'U1', 'U2'].map((name) => scene.contribute(name));
    const expected = Array.from(inputs[0] ?? [], (_, k) =>
      inputs.reduce((sum, vector) => sum + toSigned(vector[k] as number, TOO_SMALL), 0),
    );
    const got = Array.from(scene.world.sum, (residue) => toSigned(residue, TOO_SMALL));
    return scene.result({ wrongSum: { expected, got } });
  },
  sealed(setting) {
    const scene = new SealedScene(setting, ALL_OF_THREE);
    const { authority, server, policy } = scene.world;
    const small = { ...policy, modulus: TOO_SMALL, level: LEVEL };
    const created = authority.persist(authority.core.createTask(small));
    if ('kind' in created) scene.note(created, 'authority');
    // The server gives users of the sound task a buffer of the other one.
    const ctx = server.drawBuffer();
    const { descriptor, slotKeys } = server.buffer(ctx);
    const body = { ...descriptor, task: taskIdOf(server.ports.suite, small) };
    const lie = { ...body, signature: server.ports.signer.sign(descriptorCodec.statement(body)) };
    scene.lies.seat = () => ({ descriptor: lie, slotKeys });
    scene.go(scene.honest('U0'));
    tellTheTruth(scene);
    for (const name of ['U1', 'U2', 'U3']) scene.go(scene.honest(name));
    closeBuffer(scene, ctx);
    return scene.result();
  },
};
