/** E1: the attributes of one buffer serve for the next, and a colluder of the first has kept its key. */
import { millis } from '@basa/protocol';
import { OPEN_MS } from '@basa/simulator';
import type { Attack } from './attack.ts';
import { type ChainLink, forgedAnswer, linkOf } from './forgery.ts';
import { PaperStage } from './paper-stage.ts';
import { ALL_OF_THREE, SealedStage } from './sealed-stage.ts';
import { closeBuffer, tellTheTruth } from './server-moves.ts';

export const E1: Attack = {
  id: 'E1',
  schedule: 'Eve uploads at k = 2 and keeps SK_2; the next buffer, of U0, U1 and U2, has the same attributes',
  broken(setting) {
    const stage = new PaperStage(setting);
    stage.contribute('V0');
    stage.contribute('V1');
    stage.contributeAsColluder('Eve');
    stage.world.openNext(stage.world.buffer.ctx);
    for (const name of ['U0', 'U1', 'U2']) stage.contribute(name);
    return stage.result();
  },
  sealed(setting) {
    const stage = new SealedStage(setting, ALL_OF_THREE);
    const { server } = stage.world;
    const first = ['V0', 'V1', 'Eve'].map((name) => {
      const device = name === 'Eve' ? stage.colluder(name) : stage.honest(name);
      stage.go(device);
      return device;
    });
    const { ctx } = first[2] as (typeof first)[number];
    const drawn = server.buffer(ctx);
    closeBuffer(stage, ctx);

    // The server forgets the first buffer and plays its descriptor again.
    const users = ['U0', 'U1', 'U2'].map((name) => stage.honest(name));
    const chain: ChainLink[] = [];
    stage.lies.seat = () => drawn;
    stage.lies.upload = () => ({ kind: 'accepted' });
    stage.lies.deposit = (bytes) => {
      const link = linkOf(stage, bytes);
      const answer = forgedAnswer(stage, link, chain);
      chain.push(link);
      return answer;
    };
    for (const user of users) stage.go(user);
    // To a user of the first buffer as well, with a new update.
    const again = first[0] as (typeof first)[number];
    again.newUpdate();
    stage.go(again, 'upload', 1);

    // A fresh buffer, against the key of the old one.
    tellTheTruth(stage);
    for (const user of users) {
      user.leave();
      stage.go(user);
    }
    closeBuffer(stage, (users[0] as (typeof users)[number]).ctx);

    // The old descriptor once more, when its time is over.
    stage.world.now = millis(stage.world.now + OPEN_MS);
    stage.lies.seat = () => drawn;
    stage.go(stage.honest('U3'));
    return stage.result();
  },
};
