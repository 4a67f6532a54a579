/** Attacks with colluders among the users. */
import { authorityMessages, registrationOf } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { ALONE, keysAlone } from '../world/one-authority.ts';
import { ALL_OF_THREE, type Attacks, closeAsProtocol, depositOf, FOUR, finish, seated, THREE } from './attack-moves.ts';
import { askAsEve } from './eve.ts';
import { takeKey, takeSlot } from './exhaustive.ts';
import type { Ledger, Source } from './ledger.ts';
import type { OracleWorld } from './oracle-world.ts';
import type { SentUpload, WatchedDevice } from './watched-device.ts';

export const COLLUDED_ATTACKS: Attacks = {
  "a colluder repeats a victim's nonce and signs for its self seed": {
    ...FOUR,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      const [victim, ...others] = users as [WatchedDevice, ...WatchedDevice[]];
      const eve = world.newUser(false);
      const { nonce } = (ledger.sources[0] as Source).deposit;
      drawNext(eve, nonce);
      takeSlot(world, ledger, eve);
      for (const user of others) finish(world, ledger, user);
      // The victim comes too late: its upload is seen, and its edge key released.
      takeKey(world, victim);
      const seen = granted(victim.send());
      takeKey(world, eve);
      world.acceptUpload(ledger, signedFor(world, eve, granted(eve.send()), seen.header.selfName));
      closeAsProtocol(world, ledger);
    },
  },
  'a slot is registered again after a roll-back that nobody saw': {
    ...ALL_OF_THREE,
    play: (world) => {
      const [ledger, users] = seated(world, 2);
      for (const user of users) finish(world, ledger, user);
      const before = world.authority.log.length;
      const sources = [...ledger.sources];
      const victim = world.newUser(true);
      takeSlot(world, ledger, victim);
      takeKey(world, victim);
      const seen = granted(victim.send());
      world.rollBack(before);
      const eve = world.newUser(false);
      const deposit = granted(eve.join(ledger.buffer));
      const mine: Source = { deposit, joinTag: world.tagOf(ledger.buffer.ctx, eve, deposit.nonce), user: eve.user };
      granted(eve.takeSlot(world.tell(ledger.buffer.ctx, sources, mine)));
      takeKey(world, eve);
      ledger.uploads.push(signedFor(world, eve, granted(eve.send()), seen.header.selfName));
      world.close(world.closeTelling(ledger, [...sources, mine]));
    },
  },
  'a colluder garbles its own self seed': {
    ...THREE,
    play: (world, broken) => {
      const [ledger, users] = seated(world, 2);
      for (const user of users) finish(world, ledger, user);
      const eve = world.newUser(false);
      takeSlot(world, ledger, eve);
      takeKey(world, eve);
      const { header, parts } = granted(eve.send());
      const { suite } = world.server.ports;
      const { sealings } = world.federation;
      const garbled = parts.self.map((byte, n) => (n < sealings.sealing.selfNameBytes ? byte : byte ^ 1));
      const registration = registrationOf(suite, header.receipt);
      const keys = sealings.issuer.keysOf(keysAlone(ledger.buffer));
      const released = [{ authority: ALONE, key: keys.self(registration, header.selfName) as Uint8Array }];
      if (sealings.sealing.openSelf(ledger.buffer, registration, garbled, released) !== undefined)
        broken.push('a seed that nobody sealed was taken for one: nobody can be named for the spoilt sum');
    },
  },
  'one colluder takes two slots': {
    ...FOUR,
    play: (world) => {
      const [ledger, [victim]] = seated(world, 2) as [Ledger, [WatchedDevice, WatchedDevice]];
      const eve = world.newUser(false);
      const twin = world.aliasOf(eve);
      const story = [...ledger.sources];
      for (const user of [eve, twin]) {
        const deposit = granted(user.join(ledger.buffer));
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
      const deposit = granted(last.join(ledger.buffer));
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

/** The user's next random bytes of this length are these. */
function drawNext(user: WatchedDevice, bytes: Uint8Array): void {
  const { draw } = user;
  user.draw = (length) => {
    if (length !== bytes.length) return draw(length);
    user.draw = draw;
    return bytes.slice();
  };
}

/** The upload under a header of its sender that names another self seed. */
function signedFor(world: OracleWorld, { signer }: WatchedDevice, sent: SentUpload, selfName: Uint8Array): SentUpload {
  const { uploadHeader } = authorityMessages(world.shape.bufferSize);
  const body = { ...sent.header, selfName };
  return { ...sent, header: { ...body, signature: signer.sign(uploadHeader.statement(body)) } };
}
