/** Attacks that want one update in two sums: outcomes that are forgotten, early or forged. */
import { type Attacks, closeAsProtocol, finish, seated, THREE } from './attack-moves.ts';
import { takeSlot } from './exhaustive.ts';
import type { Ledger } from './ledger.ts';
import { liedOutcome } from './lies.ts';
import type { OracleWorld } from './oracle-world.ts';
import type { WatchedDevice } from './watched-device.ts';

export const RESUBMITTED_ATTACKS: Attacks = {
  'the authority is rolled back to before the close': {
    ...THREE,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) finish(world, ledger, user);
      const before = world.authority.log.length;
      closeAsProtocol(world, ledger);
      world.rollBack(before, world.authority.core.head());
      world.federation.now = ledger.buffer.descriptor.closeBy;
      for (const user of users) user.hear(world.outcome(ledger.buffer.ctx));
      closeAsProtocol(world, goOn(world, users.slice(0, 2)));
    },
  },
  'one update goes into two buffers': {
    ...THREE,
    play: (world) => {
      resubmission(world, () => {});
    },
  },
  'an open buffer is asked for, and the update taken elsewhere': {
    ...THREE,
    play: (world) => {
      resubmission(world, ({ buffer }, users) => {
        for (const user of users) user.hear(world.outcome(buffer.ctx));
      });
    },
  },
  'the server says "aborted"': {
    ...THREE,
    play: (world) => {
      resubmission(world, ({ buffer }, users) => {
        for (const user of users) user.hear(liedOutcome(world, world.outcome(buffer.ctx), 'aborted'));
      });
    },
  },
};

/** A first buffer that closes, users that want to go elsewhere, and a second buffer that closes. */
function resubmission(world: OracleWorld, between: (ledger: Ledger, users: readonly WatchedDevice[]) => void): void {
  const [ledger, users] = seated(world, 3);
  for (const user of users) finish(world, ledger, user);
  between(ledger, users);
  const next = goOn(world, users.slice(0, 2));
  closeAsProtocol(world, ledger);
  closeAsProtocol(world, next);
}

/** Users that were in a buffer before go on to the next with the same update, and a new one joins them. */
function goOn(world: OracleWorld, users: readonly WatchedDevice[]): Ledger {
  const next = world.drawBuffer();
  const all = [...users, world.newUser(true)];
  for (const user of all) {
    user.leave();
    takeSlot(world, next, user);
    finish(world, next, user);
  }
  return next;
}
