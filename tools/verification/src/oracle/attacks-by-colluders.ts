import { depositStatementCodec } from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { Attacks } from './attack-moves.ts';
import { ALL_OF_THREE, closeAsProtocol, depositOf, FOUR, finish, seated } from './attack-moves.ts';
import { askAsEve } from './eve.ts';
import { takeKey, takeSlot } from './exhaustive.ts';
import { forgedDeposit } from './lies.ts';
import type { OracleUser } from './oracle-user.ts';
import type { Ledger, Source } from './oracle-world.ts';

export const COLLUDED_ATTACKS: Attacks = {
  "a colluder repeats a victim's nonce and drops out": {
    ...FOUR,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      const eve = world.newUser(false);
      const { nonce } = (ledger.sources[0] as Source).deposit;
      const { ctx } = ledger.buffer;
      const joinTag = world.tagOf(ctx, eve, nonce);
      const { deposit } = forgedDeposit(world, ledger, { ...(ledger.sources[0] as Source), joinTag, user: eve.user });
      const { certificate } = eve;
      const signature = eve.signer.sign(depositStatementCodec.statement({ ctx, joinTag, root: deposit.root }));
      world.acceptDeposit(ledger, { ...deposit, certificate, signature });
      for (const user of users) finish(world, ledger, user);
      closeAsProtocol(world, ledger);
    },
  },
  'one colluder takes two slots': {
    ...FOUR,
    play: (world) => {
      const [ledger, [victim]] = seated(world, 2) as [Ledger, [OracleUser, OracleUser]];
      const eve = world.newUser(false);
      const twin = world.aliasOf(eve);
      const story = [...ledger.sources];
      for (const user of [eve, twin]) {
        const deposit = granted(user.deposit(ledger.buffer.descriptor, world.now));
        const joinTag = world.tagOf(ledger.buffer.ctx, user, deposit.nonce);
        const mine: Source = { deposit, joinTag, user: user.user };
        user.takeSlot(world.tell(ledger.buffer.ctx, story, mine));
        story.push(mine);
      }
      for (const user of [victim, eve, twin]) finish(world, ledger, user);
      world.close(world.closeTelling(ledger, story));
    },
  },
  'a slot is given to another after its key was issued': {
    ...ALL_OF_THREE,
    play: (world) => {
      const [ledger, users] = seated(world, 2);
      for (const user of users) finish(world, ledger, user);
      const eve = world.newUser(false);
      takeSlot(world, ledger, eve);
      takeKey(world, eve);
      const last = world.newUser(true);
      const deposit = granted(last.deposit(ledger.buffer.descriptor, world.now));
      world.remember(last);
      const mine: Source = { deposit, joinTag: world.tagOf(ledger.buffer.ctx, last, deposit.nonce), user: last.user };
      const before = ledger.sources.slice(0, 2);
      last.takeSlot(world.tell(ledger.buffer.ctx, before, mine));
      finish(world, ledger, last);
      world.close(world.closeTelling(ledger, [...before, mine]));
    },
  },
  'a colluder asks for the key of a slot that is taken': {
    ...ALL_OF_THREE,
    play: (world) => {
      const ledger = world.drawBuffer();
      const users = [world.newUser(true), world.newUser(true), world.newUser(true)];
      const eve = world.newUser(false);
      for (const user of users) {
        const [, answer] = depositOf(world, ledger, user);
        user.takeSlot(answer);
        finish(world, ledger, user);
        askAsEve(world, eve, answer);
      }
      closeAsProtocol(world, ledger);
    },
  },
  'a colluder keeps its key for the next buffer': {
    ...ALL_OF_THREE,
    play: (world) => {
      const [first] = seated(world, 2);
      const eve = world.newUser(false);
      takeSlot(world, first, eve);
      takeKey(world, eve);
      const [ledger, users] = seated(world, 3);
      for (const user of users) finish(world, ledger, user);
      closeAsProtocol(world, ledger);
    },
  },
};
