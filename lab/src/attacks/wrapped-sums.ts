/** H1: the group is too small for K summands. Nothing is learned; the sum is wrong, and no party notices. */
import { ring, toSigned } from '@basa/masking';
import type { Attack } from './attack.ts';
import { PaperScene } from './paper-scene.ts';

/** Holds one update of up to 2^10 - 1 in either direction, but not three. */
const TOO_SMALL = ring(11);

export const H1: Attack = {
  id: 'H1',
  schedule: 'q = 2^11 for three updates of up to 2^10 - 1 either way',
  inOneShot: 'the server asks the authority to take part in a task with q = 2^11 for three such updates',
  stoppedBy: [{ by: 'authority', reason: 'policy-invalid' }],
  paper(setting) {
    const scene = new PaperScene(setting, { modulus: TOO_SMALL });
    const inputs = ['U0', 'U1', 'U2'].map((name) => scene.contribute(name));
    const expected = Array.from(inputs[0] ?? [], (_, k) =>
      inputs.reduce((sum, vector) => sum + toSigned(vector[k] as number, TOO_SMALL), 0),
    );
    const got = Array.from(scene.world.sum, (residue) => toSigned(residue, TOO_SMALL));
    return scene.result({ wrongSum: { expected, got } });
  },
};
