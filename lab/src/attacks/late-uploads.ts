/** B1 and B2: an upload comes too late, or in part, and another user is accepted at the same position. */
import type { Ctx } from '@basa/protocol';
import type { Attack } from './attack.ts';
import { againstOneShot } from './one-shot/against-one-shot.ts';
import { type Colluder, colluders, honestUploads } from './one-shot/shot-scene.ts';
import { PaperScene } from './paper-scene.ts';
import { DIMENSION } from './sample-update.ts';

export const B1: Attack = {
  id: 'B1',
  schedule: 'Ua at k = 2 is late, but its bytes arrive; Ub is accepted at k = 2; nobody colludes',
  inOneShot:
    'U0, U1 and Ub are in a batch; the upload of Ua arrives late, and the server asks for the sum with Ua in the place of Ub',
  paper(setting) {
    const scene = new PaperScene(setting);
    lateAtTwo(scene, DIMENSION);
    scene.contribute('Ub');
    return scene.result();
  },
  oneShot: (setting) =>
    againstOneShot(setting, (oracle) => {
      const [u0, u1, ub] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      oracle.close([u0, u1, ub]);
      const [ua] = honestUploads(oracle, 1) as [Ctx];
      oracle.close([u0, u1, ua], 1);
    }),
};

export const B2: Attack = {
  id: 'B2',
  schedule: 'half of the late bytes of Ua arrive; Ub is accepted at k = 2; Ub colludes',
  inOneShot:
    'the masked half of the upload of Ua arrives without its sealed seeds; the server shows seeds of its own in their place',
  paper(setting) {
    const scene = new PaperScene(setting);
    lateAtTwo(scene, DIMENSION / 2);
    scene.contributeAsColluder('Ub');
    return scene.result();
  },
  oneShot: (setting) =>
    againstOneShot(setting, (oracle) => {
      const [u0, u1, ua] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      const [ub] = colluders(oracle, 1) as readonly [Colluder];
      const sealed = oracle.ownParts(oracle.stored(ua).upload.header);
      for (const keeper of oracle.honest) oracle.inspectWith(keeper, ua, sealed);
      oracle.close([u0, u1, ub.name]);
      oracle.close([ua, u1, ub.name], 1);
    }),
};

function lateAtTwo(scene: PaperScene, elements: number): void {
  scene.contribute('U0');
  scene.contribute('U1');
  const connection = scene.connect('Ua');
  const late = scene.mask('Ua', connection);
  scene.timeOut();
  scene.arrive(connection, late, elements);
}
