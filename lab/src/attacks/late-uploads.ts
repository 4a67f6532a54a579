/** B1 and B2: an upload comes too late, or in part, and another user is accepted at the same position. */
import type { Attack } from './attack.ts';
import { PaperScene } from './paper-scene.ts';
import { DIMENSION } from './sample-update.ts';

export const B1: Attack = {
  id: 'B1',
  schedule: 'Ua at k = 2 is late, but its bytes arrive; Ub is accepted at k = 2; nobody colludes',
  inOneShot:
    'U0, U1 and Ub are in a batch; the upload of Ua arrives late, and the server asks for the sum with Ua in the place of Ub',
  stoppedBy: [
    { by: 'authority', reason: 'upload-used' },
    { by: 'authority', reason: 'too-few-votes' },
  ],
  paper(setting) {
    const scene = new PaperScene(setting);
    lateAtTwo(scene, DIMENSION);
    scene.contribute('Ub');
    return scene.result();
  },
};

export const B2: Attack = {
  id: 'B2',
  schedule: 'half of the late bytes of Ua arrive; Ub is accepted at k = 2; Ub colludes',
  inOneShot:
    'the masked half of the upload of Ua arrives without its sealed seeds; the server shows seeds of its own in their place',
  stoppedBy: [
    { by: 'authority', reason: 'body-mismatch' },
    { by: 'authority', reason: 'upload-used' },
    { by: 'authority', reason: 'too-few-votes' },
  ],
  paper(setting) {
    const scene = new PaperScene(setting);
    lateAtTwo(scene, DIMENSION / 2);
    scene.contributeAsColluder('Ub');
    return scene.result();
  },
};

function lateAtTwo(scene: PaperScene, elements: number): void {
  scene.contribute('U0');
  scene.contribute('U1');
  const connection = scene.connect('Ua');
  const late = scene.mask('Ua', connection);
  scene.timeOut();
  scene.arrive(connection, late, elements);
}
