/** G1: all but one user are told that the model is far ahead, so that their updates vanish in the quantiser. */
import { granted } from '@basa/protocol';
import type { Attack } from './attack.ts';
import { PaperScene } from './paper-scene.ts';

/** S(t - tau) = (1 + 2^52)^-1/2: about 1.5e-8 of the update is left. */
const HUGE = 2 ** 52;
const STALENESS = { kind: 'polynomial', exponent: 0.5 } as const;

export const G1: Attack = {
  id: 'G1',
  schedule: 'the server tells all users but U2 a huge t, so that their weighted updates quantise to zero',
  inOneShot: 'the server puts devices on two versions of the model into one batch',
  stoppedBy: [{ by: 'authority', reason: 'batch-invalid' }],
  paper(setting) {
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
};
