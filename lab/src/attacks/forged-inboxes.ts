/** D1 and D2: a malicious server lies about the position, and forges or omits what was sealed to it. */
import type { Attack } from './attack.ts';
import {
  type ChainLink,
  chainOf,
  fakeDeposit,
  forgedAnswer,
  forgedClose,
  forgedInbox,
  forgedTicket,
  linkOf,
} from './forgery.ts';
import { PaperStage } from './paper-stage.ts';
import { ALL_OF_THREE, SealedStage } from './sealed-stage.ts';
import { closeBuffer, tell } from './server-moves.ts';

export const D1: Attack = {
  id: 'D1',
  schedule: 'everybody is told "k = K-1" and given ciphertexts the server forged',
  broken(setting) {
    const stage = new PaperStage(setting);
    const last = stage.world.bufferSize - 1;
    for (const name of ['U0', 'U1', 'U2']) {
      const connection = {
        ...stage.connect(name),
        ticket: stage.forgeTicket(name, last),
        inbox: [stage.forgeCiphertext(last), stage.forgeCiphertext(last)],
      };
      stage.arrive(connection, stage.mask(name, connection));
      stage.timeOut();
    }
    return stage.result();
  },
  sealed(setting) {
    // Nobody colludes, so that the smallest minimum is safe: the server may close with any two.
    const stage = new SealedStage(setting, { minimum: 2 });
    const { server } = stage.world;
    const ctx = server.drawBuffer();
    const fakes = [0, 1, 2].map(() => fakeDeposit(stage, ctx));
    const links: ChainLink[] = [];
    stage.lies.seat = () => server.buffer(ctx);
    stage.lies.upload = () => ({ kind: 'accepted' });
    /** Tells the next user that it comes after so many fakes. */
    const deceive = (name: string, slot: number): void => {
      stage.lies.deposit = (bytes) => {
        const link = linkOf(stage, bytes);
        links.push(link);
        return forgedAnswer(stage, link, fakes.slice(0, slot));
      };
      stage.go(stage.honest(name));
    };
    deceive('U0', 3); // believes it, gets the key, uploads
    deceive('U1', 3); // the authority has given this slot's key
    deceive('U2', 1); // believes it, gets the key, uploads
    deceive('U3', 2); // the authority knows another deposit in slot 1
    const [u0, , u2] = links as [ChainLink, ChainLink, ChainLink];
    const [f0, f1, f2] = fakes as [ChainLink, ChainLink, ChainLink];
    forgedClose(stage, ctx, [f0, f1, f2, u0], [3]);
    forgedClose(stage, ctx, [f0, u2, f2, u0], [1, 3]);
    forgedClose(stage, ctx, [f0, f1, f2, u0], [0, 1, 2, 3]);
    forgedClose(stage, ctx, [f0, u2], [0, 1]);
    return stage.result();
  },
};

export const D2: Attack = {
  id: 'D2',
  schedule: 'the server keeps c_02 back from U2; U1 colludes',
  broken(setting) {
    const stage = new PaperStage(setting);
    stage.contribute('U0');
    stage.contributeAsColluder('U1');
    const honest = stage.connect('U2');
    const connection = { ...honest, inbox: honest.inbox.slice(1) };
    stage.arrive(connection, stage.mask('U2', connection));
    return stage.result();
  },
  sealed(setting) {
    const stage = new SealedStage(setting, ALL_OF_THREE);
    const [u0, omitted, shifted, swapped] = stage.honestOnes('U0', 'U2', 'U3', 'U4');
    const eve = stage.colluder('U1');
    stage.go(u0);
    stage.go(eve);
    const { ctx } = eve;
    const { server } = stage.world;
    const [first, second] = chainOf(stage, ctx) as [ChainLink, ChainLink];
    // The ticket for slot 2, with the edge of U0 left out.
    tell(stage, omitted, ctx, [first, second], (mine) =>
      server.messages.depositAnswer.encode({
        ticket: forgedTicket(stage, mine, [first, second]),
        inbox: forgedInbox(stage, [first, second]).slice(1),
      }),
    );
    // A chain in which U0 never was.
    tell(stage, shifted, ctx, [second]);
    // A chain in which U0 deposited seeds of the server's.
    tell(stage, swapped, ctx, [fakeDeposit(stage, ctx, first.joinTag), second]);
    stage.go(stage.honest('U5'));
    closeBuffer(stage, ctx);
    return stage.result();
  },
};
