/** Attacks through the messages to a user: tickets, inboxes and keys that the server made. */
import { type DepositAnswer, isRefused } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { type Attacks, closeAsProtocol, depositOf, finish, seated, send, THREE } from './attack-moves.ts';
import { Dice } from './dice.ts';
import { closeWith } from './exhaustive.ts';
import type { Ledger, Source } from './ledger.ts';
import { DEPOSIT_LIES, forgedDeposit, HEADER_LIES, withGarbageKey } from './lies.ts';
import { ownList } from './openers.ts';
import type { OracleWorld } from './oracle-world.ts';
import type { WatchedDevice } from './watched-device.ts';

export const TOLD_ATTACKS: Attacks = {
  'the key answer is withheld, and after a restart another inbox is told': {
    ...THREE,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      const [first, second, last] = users as [WatchedDevice, WatchedDevice, WatchedDevice];
      for (const user of [first, second]) finish(world, ledger, user);
      world.issueKey(granted(last.askKey()));
      last.restart();
      const forged = [forgedDeposit(world, ledger), forgedDeposit(world, ledger)];
      last.takeSlot(world.tell(ledger.buffer.ctx, forged, ledger.sources[2] as Source));
      finish(world, ledger, last);
      world.close(closeWith(world, ledger, ledger.uploadedSlots));
    },
  },
  'the server gives a user a list of its own keys': {
    ...THREE,
    play: (world) => {
      const ledger = world.drawBuffer();
      const victim = world.newUser(true);
      // The victim is next in slot 0, whose key it will get from the authority: that key stays as it is.
      const { slotKeys, secrets } = ownList((length) => world.serverBytes(length), ledger.buffer, 0);
      for (const secret of secrets) world.trace.gotKey(secret);
      const { descriptor } = ledger.buffer;
      const deposit = victim.join({ descriptor, slotKeys });
      if (isRefused(deposit)) return;
      world.remember(victim);
      victim.takeSlot(granted(world.acceptDeposit(ledger, deposit)));
      finish(world, ledger, victim);
    },
  },
  'a key that opens nothing first, the true one after a restart': {
    ...THREE,
    play: (world) => {
      const [ledger, last] = withUselessKey(world);
      last.send();
      last.restart();
      finish(world, ledger, last);
      closeAsProtocol(world, ledger);
    },
  },
  'the update is quantised again between two uploads': {
    ...THREE,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) finish(world, ledger, user);
      const [again] = users as [WatchedDevice];
      again.restart();
      again.quantiseAgain();
      again.send();
    },
  },
  "tickets over the server's own seeds": {
    ...THREE,
    play: (world) => {
      const ledger = world.drawBuffer();
      const users = [world.newUser(true), world.newUser(true), world.newUser(true)];
      const story: Source[] = [];
      for (const user of users) {
        const [mine] = depositOf(world, ledger, user);
        const forged = forgedDeposit(world, ledger, mine);
        user.takeSlot(world.tell(ledger.buffer.ctx, story, forged));
        story.push(forged);
        finish(world, ledger, user);
      }
      world.close(world.closeTelling(ledger, story));
    },
  },
  'a key that opens nothing, and the void list is stripped at close': {
    ...THREE,
    play: (world) => closeAfterUselessKey(world, true),
  },
  'a key that opens nothing, and everybody is accepted': {
    ...THREE,
    play: (world) => closeAfterUselessKey(world, false),
  },
  'the last user is told a made-up inbox and asks first': {
    ...THREE,
    play: (world) => {
      lastIsTold(world, (ledger, mine) =>
        world.tell(ledger.buffer.ctx, [forgedDeposit(world, ledger), forgedDeposit(world, ledger)], mine),
      );
    },
  },
  'forged seeds behind the true roots': {
    ...THREE,
    play: (world) => {
      const lie = DEPOSIT_LIES['forged seeds behind the true roots'] as (typeof DEPOSIT_LIES)[string];
      lastIsTold(world, (ledger, mine, honest) => lie(world, ledger, mine, honest, new Dice(1)));
    },
  },
};

/** Slots 0 and 1 are taken honestly; the last user is shown forged seeds, and all users are accepted if possible. */
function lastIsTold(
  world: OracleWorld,
  lie: (ledger: Ledger, mine: Source, honest: DepositAnswer) => DepositAnswer,
): void {
  const [ledger, users] = seated(world, 2);
  const last = world.newUser(true);
  const [mine, honest] = depositOf(world, ledger, last);
  last.takeSlot(lie(ledger, mine, honest));
  for (const user of [last, ...users]) finish(world, ledger, user);
  world.close(closeWith(world, ledger, ledger.uploadedSlots));
}

/** Two users have uploaded, and the third is given a key that opens nothing, or the true one if it refuses. */
function withUselessKey(world: OracleWorld): [Ledger, WatchedDevice] {
  const [ledger, [first, second, last]] = seated(world, 3) as [Ledger, [WatchedDevice, WatchedDevice, WatchedDevice]];
  for (const user of [first, second]) finish(world, ledger, user);
  const request = granted(last.askKey());
  const answer = granted(world.issueKey(request));
  if (isRefused(last.takeKey(withGarbageKey(world, request, answer)))) last.takeKey(answer);
  return [ledger, last];
}

/** The server closes with the three of them, voids stripped or not. */
function closeAfterUselessKey(world: OracleWorld, isStripped: boolean): void {
  const [ledger, last] = withUselessKey(world);
  send(world, ledger, last);
  const { signature: _, ...body } = closeWith(world, ledger, ledger.uploadedSlots);
  const strip = HEADER_LIES['a stripped void list'] as (typeof HEADER_LIES)[string];
  world.close(world.signedClose({ ...body, headers: isStripped ? body.headers.map(strip) : body.headers }));
}
