/** Attacks around the close: the sets that are closed, the time, and the server's memory of it. */
import { isRefused, recordGrant, registrationOf } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { ALONE, grantOf } from '../world/one-authority.ts';
import { type Attacks, closeAsProtocol, finish, seated, send, THREE, TWO_OF_FOUR } from './attack-moves.ts';
import { closeWith, takeKey } from './exhaustive.ts';
import type { WatchedDevice } from './watched-device.ts';

export const CLOSED_ATTACKS: Attacks = {
  'everybody is accepted': {
    ...THREE,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) finish(world, ledger, user);
      closeAsProtocol(world, ledger);
    },
  },
  'an upload comes too late': {
    ...THREE,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users.slice(0, 2)) finish(world, ledger, user);
      ledger.freeze();
      finish(world, ledger, users[2] as WatchedDevice);
      closeAsProtocol(world, ledger);
    },
  },
  'closed twice with different sets': {
    ...TWO_OF_FOUR,
    play: (world) => {
      const [ledger, users] = seated(world, 4);
      for (const user of users) finish(world, ledger, user);
      closeAsProtocol(world, ledger);
      world.close(closeWith(world, ledger, [0, 1, 2]));
    },
  },
  'the server asks for the pad of another self seed': {
    ...THREE,
    play: (world, broken) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) finish(world, ledger, user);
      const { signature: _, ...body } = closeWith(world, ledger, ledger.uploadedSlots);
      const [first, ...others] = body.headers;
      const other = others[0]?.selfName;
      if (first === undefined || other === undefined) return;
      const answer = world.close(world.signedClose({ ...body, headers: [{ ...first, selfName: other }, ...others] }));
      if (isRefused(answer)) return;
      const { suite } = world.server.ports;
      const { sealings } = world.federation;
      const { parts } = ledger.uploads[0] as (typeof ledger.uploads)[number];
      const released = answer.keys.find(({ slot }) => slot === first.slot)?.key as Uint8Array;
      if (
        sealings.sealing.openSelf(ledger.buffer, registrationOf(suite, first.receipt), parts.self, [
          { authority: ALONE, key: released },
        ]) === undefined
      )
        broken.push('an honest user is blamed: the authority released the pad of another seed for its slot');
    },
  },
  'closed with one upload': {
    ...THREE,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) takeKey(world, user);
      send(world, ledger, users[0] as WatchedDevice);
      world.close(closeWith(world, ledger, [0]));
    },
  },
  'the server asks for the close, crashes, and takes another upload': {
    ...THREE,
    play: (world, broken) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) takeKey(world, user);
      for (const user of users.slice(0, 2)) send(world, ledger, user);
      const early = ledger.closeRequest();
      if (isRefused(early)) ledger.freeze();
      const request = isRefused(early) ? granted(ledger.closeRequest()) : early;
      // The answer is lost: the server knows only the durable records of its close.
      world.close(request);
      send(world, ledger, users[2] as WatchedDevice);
      ledger.freeze();
      const answer = granted(world.close(granted(ledger.closeRequest())));
      const grant = grantOf(world.server.ports, ledger.buffer, answer);
      if (!isRefused(grant)) world.server.persist(ledger.buffer, recordGrant(ledger.buffer, grant));
      if (isRefused(grant)) broken.push('an acknowledged upload is in no sum: the authority closed with another set');
    },
  },
};
