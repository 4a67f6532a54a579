/** I1: users whose updates are in a sum are told that they are not, and bring the same updates to another buffer. */
import type { Attack } from './attack.ts';
import { PaperScene } from './paper-scene.ts';

export const I1: Attack = {
  id: 'I1',
  schedule:
    'U0, U1 and V fill a buffer; the server tells U0 and U1 that their time was over, and they upload the same updates again beside Eve; V is kept out',
  inOneShot:
    'a batch of U0, U1 and V is final; the server says that the uploads of U0 and U1 are lost, and asks for them again beside Eve',
  stoppedBy: [{ by: 'user', reason: 'version-given' }],
  paper(setting) {
    const scene = new PaperScene(setting);
    for (const name of ['U0', 'U1', 'V']) scene.contribute(name);
    scene.world.openNext();
    for (const name of ['U0', 'U1']) scene.contributeAgain(name);
    scene.contributeAsColluder('Eve');
    return scene.result();
  },
};
