/** C1: one user sends twice under the same seeds, with an update that was trained or quantised again in between. */
import type { Attack } from './attack.ts';
import { againstOneShot } from './one-shot/against-one-shot.ts';
import { honestUploads } from './one-shot/shot-scene.ts';
import { PaperScene } from './paper-scene.ts';

export const C1: Attack = {
  id: 'C1',
  schedule: 'the upload of U2 at k = 2 seems lost; it trains again, connects again and uploads under the same seeds',
  inOneShot:
    'the server denies that the upload of U2 arrived; U2 sends it again, and then trains again on the same version',
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
  oneShot: (setting) =>
    againstOneShot(setting, (oracle) => {
      const others = honestUploads(oracle, 2);
      const device = oracle.world.shooter();
      const first = oracle.giveAndCrash(device);
      // The same bytes under the same name.
      oracle.give(device);
      device.own.newUpdate();
      const second = oracle.give(device);
      oracle.close([...others, first]);
      if (second !== undefined) oracle.close([...others, second], 1);
    }),
};
