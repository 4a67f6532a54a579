/** E1: the attributes of one buffer serve for the next, and a colluder of the first has kept its key. */
import type { Ctx } from '@basa/protocol';
import type { Attack } from './attack.ts';
import { againstOneShot } from './one-shot/against-one-shot.ts';
import { type Colluder, colluders, honestUploads } from './one-shot/shot-scene.ts';
import { PaperScene } from './paper-scene.ts';

export const E1: Attack = {
  id: 'E1',
  schedule: 'Eve uploads at k = 2 and keeps SK_2; the next buffer, of U0, U1 and U2, has the same attributes',
  inOneShot: 'Eve uploads with V0 and V1; the server uses her old upload again in the next batch, with U0 and U1',
  paper(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('V0');
    scene.contribute('V1');
    scene.contributeAsColluder('Eve');
    scene.world.openNext(scene.world.buffer.ctx);
    for (const name of ['U0', 'U1', 'U2']) scene.contribute(name);
    return scene.result();
  },
  oneShot: (setting) =>
    againstOneShot(setting, (oracle) => {
      const first = honestUploads(oracle, 2);
      const [eve] = colluders(oracle, 1) as readonly [Colluder];
      oracle.close([...first, eve.name]);
      // The same version: the seeds of Eve's upload are still in the open epoch.
      const [u0, u1, u2] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      oracle.close([u0, u1, eve.name], 1);
      oracle.close([u0, u1, u2], 2);
    }),
};
