/** Attacks around the close: which sets are closed, when, and what the server remembers of it. */
import { closeRequestOf, freezeBuffer, isRefused, recordGrant, registrationOf } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { ALONE, grantOf } from '../one-authority.ts';
import {
  type Attacks,
  closeAsProtocol,
  finish,
  seated,
  send,
  THREE,
  TWO_OF_FOUR,
  uploadedSlots,
} from './attack-moves.ts';
import { closeWith, takeKey } from './exhaustive.ts';
import type { OracleUser } from './oracle-user.ts';
import { keep } from './oracle-world.ts';

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
      keep(ledger, freezeBuffer(ledger.buffer, 'stalled', world.now));
      finish(world, ledger, users[2] as OracleUser);
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
      const { signature: _, ...body } = closeWith(world, ledger, uploadedSlots(ledger));
      const [first, ...others] = body.headers;
      const other = others[0]?.selfName;
      if (first === undefined || other === undefined) return;
      const answer = world.close(world.signedClose({ ...body, headers: [{ ...first, selfName: other }, ...others] }));
      if (isRefused(answer)) return;
      const { suite, sealings } = world.bench;
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
      send(world, ledger, users[0] as OracleUser);
      world.close(closeWith(world, ledger, [0]));
    },
  },
  'the server asks for the close, crashes, and takes another upload': {
    ...THREE,
    play: (world, broken) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) takeKey(world, user);
      for (const user of users.slice(0, 2)) send(world, ledger, user);
      const early = closeRequestOf(world.serverPorts, ledger.buffer);
      if (isRefused(early)) keep(ledger, freezeBuffer(ledger.buffer, 'stalled', world.now));
      const request = isRefused(early) ? granted(closeRequestOf(world.serverPorts, ledger.buffer)) : early;
      // The answer is lost: the server knows of its close only what it had made durable.
      world.close(request);
      send(world, ledger, users[2] as OracleUser);
      keep(ledger, freezeBuffer(ledger.buffer, 'stalled', world.now));
      const answer = granted(world.close(granted(closeRequestOf(world.serverPorts, ledger.buffer))));
      const grant = grantOf(world.serverPorts, ledger.buffer, answer);
      if (!isRefused(grant)) keep(ledger, recordGrant(ledger.buffer, grant));
      if (isRefused(grant)) broken.push('an acknowledged upload is in no sum: the authority closed with another set');
    },
  },
};
