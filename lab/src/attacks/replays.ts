/** E1: the attributes of one buffer serve for the next, and a colluder of the first has kept its key. */
import type { Attack } from './attack.ts';
import { PaperScene } from './paper-scene.ts';

export const E1: Attack = {
  id: 'E1',
  schedule: 'Eve uploads at k = 2 and keeps SK_2; the next buffer, of U0, U1 and U2, has the same attributes',
  inOneShot: 'Eve uploads with V0 and V1; the server uses her old upload again in the next batch, with U0 and U1',
  stoppedBy: [
    { by: 'authority', reason: 'upload-used' },
    { by: 'authority', reason: 'too-few-votes' },
  ],
  paper(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('V0');
    scene.contribute('V1');
    scene.contributeAsColluder('Eve');
    scene.world.openNext(scene.world.buffer.ctx);
    for (const name of ['U0', 'U1', 'U2']) scene.contribute(name);
    return scene.result();
  },
};
