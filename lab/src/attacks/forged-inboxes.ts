/** D1 and D2: a malicious server lies about the position of a user, and forges or omits the messages that are sealed to it. */
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
import { PaperScene } from './paper-scene.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer, tell } from './server-moves.ts';

export const D1: Attack = {
  id: 'D1',
  schedule: 'the server tells every user "k = K-1" and sends forged ciphertexts',
  broken(setting) {
    const scene = new PaperScene(setting);
    const last = scene.world.bufferSize - 1;
    for (const name of ['U0', 'U1', 'U2']) {
      const connection = {
        ...scene.connect(name),
        ticket: scene.forgeTicket(name, last),
        inbox: [scene.forgeCiphertext(last), scene.forgeCiphertext(last)],
      };
      scene.arrive(connection, scene.mask(name, connection));
      scene.timeOut();
    }
    return scene.result();
  },
  sealed(setting) {
    // There are no colluders, so the smallest minimum is safe: the server may close with any two users.
    const scene = new SealedScene(setting, { minimum: 2 });
    const { server } = scene.world;
    const ctx = server.drawBuffer();
    const fakes = [0, 1, 2].map(() => fakeDeposit(scene, ctx));
    const links: ChainLink[] = [];
    scene.lies.seat = () => server.buffer(ctx);
    scene.lies.upload = () => ({ kind: 'accepted' });
    /** Tells the next user that this many fake deposits come before it. */
    const deceive = (name: string, slot: number): void => {
      scene.lies.deposit = (bytes) => {
        const link = linkOf(scene, bytes);
        links.push(link);
        return forgedAnswer(scene, link, fakes.slice(0, slot));
      };
      scene.go(scene.honest(name));
    };
    deceive('U0', 3); // believes it, gets the key, uploads
    deceive('U1', 3); // the authority has given this slot's key
    deceive('U2', 1); // believes it, gets the key, uploads
    deceive('U3', 2); // the authority knows another deposit in slot 1
    const [u0, , u2] = links as [ChainLink, ChainLink, ChainLink];
    const [f0, f1, f2] = fakes as [ChainLink, ChainLink, ChainLink];
    forgedClose(scene, ctx, [f0, f1, f2, u0], [3]);
    forgedClose(scene, ctx, [f0, u2, f2, u0], [1, 3]);
    forgedClose(scene, ctx, [f0, f1, f2, u0], [0, 1, 2, 3]);
    forgedClose(scene, ctx, [f0, u2], [0, 1]);
    return scene.result();
  },
};

export const D2: Attack = {
  id: 'D2',
  schedule: 'the server withholds c_02 from U2; U1 colludes',
  broken(setting) {
    const scene = new PaperScene(setting);
    scene.contribute('U0');
    scene.contributeAsColluder('U1');
    const honest = scene.connect('U2');
    const connection = { ...honest, inbox: honest.inbox.slice(1) };
    scene.arrive(connection, scene.mask('U2', connection));
    return scene.result();
  },
  sealed(setting) {
    const scene = new SealedScene(setting, ALL_OF_THREE);
    const [u0, omitted, shifted, swapped] = scene.honestOnes('U0', 'U2', 'U3', 'U4');
    const eve = scene.colluder('U1');
    scene.go(u0);
    scene.go(eve);
    const { ctx } = eve;
    const { server } = scene.world;
    const [first, second] = chainOf(scene, ctx) as [ChainLink, ChainLink];
    // The ticket for slot 2, with the edge of U0 left out.
    tell(scene, omitted, ctx, [first, second], (mine) =>
      server.messages.depositAnswer.encode({
        ticket: forgedTicket(scene, mine, [first, second]),
        inbox: forgedInbox(scene, [first, second]).slice(1),
      }),
    );
    // A chain in which U0 never was.
    tell(scene, shifted, ctx, [second]);
    // A chain in which U0 deposited seeds of the server's.
    tell(scene, swapped, ctx, [fakeDeposit(scene, ctx, first.joinTag), second]);
    scene.go(scene.honest('U5'));
    closeBuffer(scene, ctx);
    return scene.result();
  },
};
