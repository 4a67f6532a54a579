/** C1: one user sends twice under the same seeds, with an update that was trained or quantised again in between. */
import type { Attack } from './attack.ts';
import { PaperScene } from './paper-scene.ts';

export const C1: Attack = {
  id: 'C1',
  schedule: 'the upload of U2 at k = 2 seems lost; it trains again, connects again and uploads under the same seeds',
  inOneShot:
    'the server denies that the upload of U2 arrived; U2 sends it again, and then trains again on the same version',
  stoppedBy: [{ by: 'user', reason: 'version-given' }],
  paper(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('U0');
    scene.contribute('U1');
    const connection = scene.connect('U2');
    scene.arrive(connection, scene.mask('U2', connection, 'U2 before'));
    scene.timeOut();
    scene.contribute('U2');
    return scene.result();
  },
};
