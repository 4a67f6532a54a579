/** I1: users whose updates are in a sum are told that they are not, and bring the same updates to another buffer. */
import type { Ctx } from '@basa/protocol';
import type { Attack } from './attack.ts';
import { againstOneShot } from './one-shot/against-one-shot.ts';
import { type Colluder, colluders } from './one-shot/shot-scene.ts';
import { PaperScene } from './paper-scene.ts';

export const I1: Attack = {
  id: 'I1',
  schedule:
    'U0, U1 and V fill a buffer; the server tells U0 and U1 that their time was over, and they upload the same updates again beside Eve; V is kept out',
  inOneShot:
    'a batch of U0, U1 and V is final; the server says that the uploads of U0 and U1 are lost, and asks for them again beside Eve',
  paper(setting) {
    const scene = new PaperScene(setting);
    for (const name of ['U0', 'U1', 'V']) scene.contribute(name);
    scene.world.openNext();
    for (const name of ['U0', 'U1']) scene.contributeAgain(name);
    scene.contributeAsColluder('Eve');
    return scene.result();
  },
  oneShot: (setting) =>
    againstOneShot(setting, (oracle) => {
      const devices = [0, 1, 2].map(() => oracle.world.shooter());
      const names = devices.map((device) => oracle.give(device) as Ctx);
      oracle.close(names);
      const again = devices.slice(0, 2).flatMap((device) => {
        device.own.leave();
        return oracle.give(device) ?? [];
      });
      const [eve] = colluders(oracle, 1) as readonly [Colluder];
      oracle.close([...again, eve.name], 1);
    }),
};
