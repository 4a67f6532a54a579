/** E1: the attributes of one buffer serve for the next, and a colluder of the first has kept its key. */
import { millis } from '@basa/protocol';
import { OPEN_MS } from '@basa/simulator';
import type { Attack } from './attack.ts';
import { type ChainLink, forgedAnswer, linkOf } from './forgery.ts';
import { PaperScene } from './paper-scene.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer, tellTheTruth } from './server-moves.ts';

export const E1: Attack = {
  id: 'E1',
  schedule: 'Eve uploads at k = 2 and keeps SK_2; the next buffer, of U0, U1 and U2, has the same attributes',
  broken(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('V0');
    scene.contribute('V1');
    scene.contributeAsColluder('Eve');
    scene.world.openNext(scene.world.buffer.ctx);
    for (const name of ['U0', 'U1', 'U2']) scene.contribute(name);
    return scene.result();
  },
  sealed(setting) {
    const scene = new SealedScene(setting, ALL_OF_THREE);
    const { server } = scene.world;
    const first = ['V0', 'V1', 'Eve'].map((name) => {
      const device = name === 'Eve' ? scene.colluder(name) : scene.honest(name);
      scene.go(device);
      return device;
    });
    const { ctx } = first[2] as (typeof first)[number];
    const drawn = server.buffer(ctx);
    closeBuffer(scene, ctx);

    // The server forgets the first buffer and plays its descriptor again.
    const users = ['U0', 'U1', 'U2'].map((name) => scene.honest(name));
    const chain: ChainLink[] = [];
    scene.lies.seat = () => drawn;
    scene.lies.upload = () => ({ kind: 'accepted' });
    scene.lies.deposit = (bytes) => {
      const link = linkOf(scene, bytes);
      const answer = forgedAnswer(scene, link, chain);
      chain.push(link);
      return answer;
    };
    for (const user of users) scene.go(user);
    // Shows it to a user of the first buffer as well, with a new update.
    const again = first[0] as (typeof first)[number];
    again.newUpdate();
    scene.go(again, 'upload', 1);

    // A fresh buffer, against the key of the old one.
    tellTheTruth(scene);
    for (const user of users) {
      user.leave();
      scene.go(user);
    }
    closeBuffer(scene, (users[0] as (typeof users)[number]).ctx);

    // The old descriptor once more, when its time is over.
    scene.world.now = millis(scene.world.now + OPEN_MS);
    scene.lies.seat = () => drawn;
    scene.go(scene.honest('U3'));
    return scene.result();
  },
};
