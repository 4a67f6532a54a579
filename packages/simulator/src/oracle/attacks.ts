/**
 * The attacks on `sealed` that its checks exist for, as schedules against the real core. The adversary goes as far as
 * users and authority let it; the trace says what it learns. Against the core as it is they learn the honest sum at
 * most; against a core without the check they are made for, they learn more.
 */
import type { DepositAnswer, KeyAnswer, KeyRequest, Refused } from '@basa/protocol';
import { authorityMessages, closeRequestOf, depositStatementCodec, freezeBuffer, recordGrant } from '@basa/protocol';
import { granted } from '../granted.ts';
import { Bench } from './bench.ts';
import { Dice } from './dice.ts';
import { closeWith, takeKey, takeSlot } from './exhaustive.ts';
import { DEPOSIT_LIES, forgedDeposit, HEADER_LIES, liedOutcome, withGarbageKey } from './lies.ts';
import type { OracleUser } from './oracle-user.ts';
import type { Ledger, Source } from './oracle-world.ts';
import { keep, OracleWorld } from './oracle-world.ts';
import type { Judgement } from './trace.ts';

export interface AttackReport extends Judgement {
  /** What is wrong besides secrecy: an acknowledged update that server and authority do not agree about. */
  readonly broken: readonly string[];
}

interface Attack {
  readonly bufferSize: number;
  readonly minimum: number;
  play(world: OracleWorld): readonly string[] | undefined;
}

const isNo = (answer: object): answer is Refused => 'kind' in answer && answer.kind === 'refused';

/** Honest users in one buffer with their slots. */
function seated(world: OracleWorld, count: number, ledger = world.drawBuffer()): [Ledger, OracleUser[]] {
  const users = Array.from({ length: count }, () => world.newUser(true));
  for (const user of users) takeSlot(world, ledger, user);
  return [ledger, users];
}

/** Goes from slot to upload, as far as it is let. */
function finish(world: OracleWorld, ledger: Ledger, user: OracleUser): void {
  const request = user.keyRequest();
  const answer = isNo(request) ? request : world.issueKey(request);
  if (!isNo(answer)) user.takeKey(answer);
  send(world, ledger, user);
}

function send(world: OracleWorld, ledger: Ledger, user: OracleUser): void {
  const sent = user.upload();
  if (!isNo(sent)) world.acceptUpload(ledger, sent);
}

function closeAsProtocol(world: OracleWorld, ledger: Ledger): void {
  keep(ledger, freezeBuffer(ledger.buffer, 'stalled', world.now));
  const request = closeRequestOf(world.serverPorts, ledger.buffer);
  if (!isNo(request)) world.close(request);
}

function depositOf(world: OracleWorld, ledger: Ledger, user: OracleUser): [Source, DepositAnswer] {
  const deposit = granted(user.deposit(ledger.buffer.descriptor, world.now));
  world.remember(user);
  const answer = granted(world.acceptDeposit(ledger, deposit));
  return [ledger.sources.at(-1) as Source, answer];
}

/** The key request of a colluder for a slot of the server's choice. */
function askedByEve(world: OracleWorld, eve: OracleUser, { ticket, inbox }: DepositAnswer): KeyAnswer | Refused {
  const nonce = world.serverBytes(16);
  const { signature: _, ...named } = { ...ticket, joinTag: world.tagOf(ticket.ctx, eve, nonce) };
  const body: Omit<KeyRequest, 'signature'> = {
    certificate: eve.certificate,
    nonce,
    ticket: world.signedTicket(named),
    earlier: inbox.map(({ joinTag, root }) => ({ joinTag, root })),
    ephemeralKey: world.serverBytes(32),
  };
  const { keyRequest } = authorityMessages(world.shape.bufferSize);
  return world.issueKey({ ...body, signature: eve.signer.sign(keyRequest.statement(body)) });
}

/** Users that were in a buffer before go on to the next with the same update, and a new one joins them. */
function goOn(world: OracleWorld, users: readonly OracleUser[]): Ledger {
  const next = world.drawBuffer();
  const all = [...users, world.newUser(true)];
  for (const user of all) {
    user.leave();
    takeSlot(world, next, user);
    finish(world, next, user);
  }
  return next;
}

/** Slots 0 and 1 are taken honestly; the last user is told of forged seeds, and everybody is accepted if let. */
function lastIsTold(
  world: OracleWorld,
  lie: (ledger: Ledger, mine: Source, honest: DepositAnswer) => DepositAnswer,
): void {
  const [ledger, users] = seated(world, 2);
  const last = world.newUser(true);
  const [mine, honest] = depositOf(world, ledger, last);
  last.takeSlot(lie(ledger, mine, honest));
  for (const user of [last, ...users]) finish(world, ledger, user);
  world.close(closeWith(world, ledger, uploadedSlots(ledger)));
}

function uploadedSlots({ uploads }: Ledger): readonly number[] {
  return uploads.map(({ header }) => header.slot).sort((a, b) => a - b);
}

/** The last user is given a key that opens nothing; the server closes with everybody, voids stripped or not. */
function garbageKey(world: OracleWorld, isStripped: boolean): void {
  const [ledger, [first, second, last]] = seated(world, 3) as [Ledger, [OracleUser, OracleUser, OracleUser]];
  for (const user of [first, second]) finish(world, ledger, user);
  const request = granted(last.keyRequest());
  const answer = granted(world.issueKey(request));
  if (isNo(last.takeKey(withGarbageKey(world, request, answer)))) last.takeKey(answer);
  send(world, ledger, last);
  const { signature: _, ...body } = closeWith(world, ledger, uploadedSlots(ledger));
  const strip = HEADER_LIES['a stripped void list'] as (typeof HEADER_LIES)[string];
  world.close(world.signedClose({ ...body, headers: isStripped ? body.headers.map(strip) : body.headers }));
}

/** A first buffer that closes, users that want to go elsewhere, and a second buffer that closes. */
function resubmission(world: OracleWorld, between: (ledger: Ledger, users: readonly OracleUser[]) => void): void {
  const [ledger, users] = seated(world, 3);
  for (const user of users) finish(world, ledger, user);
  between(ledger, users);
  const next = goOn(world, users.slice(0, 2));
  closeAsProtocol(world, ledger);
  closeAsProtocol(world, next);
}

export const SEALED_ATTACKS: Readonly<Record<string, Attack>> = {
  'everybody is accepted': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) finish(world, ledger, user);
      closeAsProtocol(world, ledger);
      return undefined;
    },
  },
  'an upload comes too late': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users.slice(0, 2)) finish(world, ledger, user);
      keep(ledger, freezeBuffer(ledger.buffer, 'stalled', world.now));
      finish(world, ledger, users[2] as OracleUser);
      closeAsProtocol(world, ledger);
      return undefined;
    },
  },
  'the key answer is withheld, and after a restart another inbox is told': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      const [first, second, last] = users as [OracleUser, OracleUser, OracleUser];
      for (const user of [first, second]) finish(world, ledger, user);
      world.issueKey(granted(last.keyRequest()));
      last.restart();
      const forged = [forgedDeposit(world, ledger), forgedDeposit(world, ledger)];
      last.takeSlot(world.tell(ledger.buffer.ctx, forged, ledger.sources[2] as Source));
      finish(world, ledger, last);
      world.close(closeWith(world, ledger, uploadedSlots(ledger)));
      return undefined;
    },
  },
  'a key that opens nothing first, the true one after a restart': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      const [first, second, last] = users as [OracleUser, OracleUser, OracleUser];
      for (const user of [first, second]) finish(world, ledger, user);
      const request = granted(last.keyRequest());
      const answer = granted(world.issueKey(request));
      if (isNo(last.takeKey(withGarbageKey(world, request, answer)))) last.takeKey(answer);
      last.upload();
      last.restart();
      finish(world, ledger, last);
      closeAsProtocol(world, ledger);
      return undefined;
    },
  },
  'the update is quantised again between two uploads': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) finish(world, ledger, user);
      const [again] = users as [OracleUser];
      again.restart();
      again.quantiseAgain();
      again.upload();
      return undefined;
    },
  },
  "tickets over the server's own seeds": {
    bufferSize: 3,
    minimum: 2,
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
      return undefined;
    },
  },
  'a key that opens nothing, and the void list is stripped at close': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      garbageKey(world, true);
      return undefined;
    },
  },
  'a key that opens nothing, and everybody is accepted': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      garbageKey(world, false);
      return undefined;
    },
  },
  'the authority is rolled back to before the close': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) finish(world, ledger, user);
      const before = world.bench.log.length;
      closeAsProtocol(world, ledger);
      world.bench.rollBack(before, world.bench.authority.head());
      world.now = ledger.buffer.descriptor.closeBy;
      for (const user of users) user.hear(world.outcome(ledger.buffer.ctx));
      closeAsProtocol(world, goOn(world, users.slice(0, 2)));
      return undefined;
    },
  },
  'one update goes into two buffers': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      resubmission(world, () => {});
      return undefined;
    },
  },
  'an open buffer is asked for, and the update taken elsewhere': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      resubmission(world, ({ buffer }, users) => {
        for (const user of users) user.hear(world.outcome(buffer.ctx));
      });
      return undefined;
    },
  },
  'the server says "aborted"': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      resubmission(world, ({ buffer }, users) => {
        for (const user of users) user.hear(liedOutcome(world, world.outcome(buffer.ctx), 'aborted'));
      });
      return undefined;
    },
  },
  "a colluder repeats a victim's nonce and drops out": {
    bufferSize: 4,
    minimum: 3,
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
      return undefined;
    },
  },
  'one colluder takes two slots': {
    bufferSize: 4,
    minimum: 3,
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
      return undefined;
    },
  },
  'closed twice with different sets': {
    bufferSize: 4,
    minimum: 2,
    play: (world) => {
      const [ledger, users] = seated(world, 4);
      for (const user of users) finish(world, ledger, user);
      closeAsProtocol(world, ledger);
      world.close(closeWith(world, ledger, [0, 1, 2]));
      return undefined;
    },
  },
  'closed with one upload': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) takeKey(world, user);
      send(world, ledger, users[0] as OracleUser);
      world.close(closeWith(world, ledger, [0]));
      return undefined;
    },
  },
  'a slot is given to another after its key was issued': {
    bufferSize: 3,
    minimum: 3,
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
      return undefined;
    },
  },
  'a colluder asks for the key of a slot that is taken': {
    bufferSize: 3,
    minimum: 3,
    play: (world) => {
      const ledger = world.drawBuffer();
      const users = [world.newUser(true), world.newUser(true), world.newUser(true)];
      const eve = world.newUser(false);
      for (const user of users) {
        const [, answer] = depositOf(world, ledger, user);
        user.takeSlot(answer);
        finish(world, ledger, user);
        askedByEve(world, eve, answer);
      }
      closeAsProtocol(world, ledger);
      return undefined;
    },
  },
  'the last user is told a made-up inbox and asks first': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      lastIsTold(world, (ledger, mine) =>
        world.tell(ledger.buffer.ctx, [forgedDeposit(world, ledger), forgedDeposit(world, ledger)], mine),
      );
      return undefined;
    },
  },
  'forged seeds behind the true roots': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      const lie = DEPOSIT_LIES['forged seeds behind the true roots'] as (typeof DEPOSIT_LIES)[string];
      lastIsTold(world, (ledger, mine, honest) => lie(world, ledger, mine, honest, new Dice(1)));
      return undefined;
    },
  },
  'a colluder keeps its key for the next buffer': {
    bufferSize: 3,
    minimum: 3,
    play: (world) => {
      const [first] = seated(world, 2);
      const eve = world.newUser(false);
      takeSlot(world, first, eve);
      takeKey(world, eve);
      const [ledger, users] = seated(world, 3);
      for (const user of users) finish(world, ledger, user);
      closeAsProtocol(world, ledger);
      return undefined;
    },
  },
  'the server asks for the close, crashes, and takes another upload': {
    bufferSize: 3,
    minimum: 2,
    play: (world) => {
      const [ledger, users] = seated(world, 3);
      for (const user of users) takeKey(world, user);
      for (const user of users.slice(0, 2)) send(world, ledger, user);
      const early = closeRequestOf(world.serverPorts, ledger.buffer);
      if (isNo(early)) keep(ledger, freezeBuffer(ledger.buffer, 'stalled', world.now));
      const request = isNo(early) ? granted(closeRequestOf(world.serverPorts, ledger.buffer)) : early;
      // The answer is lost: the server knows of its close only what it had made durable.
      world.close(request);
      send(world, ledger, users[2] as OracleUser);
      keep(ledger, freezeBuffer(ledger.buffer, 'stalled', world.now));
      const answer = granted(world.close(granted(closeRequestOf(world.serverPorts, ledger.buffer))));
      const grant = keep(ledger, recordGrant(world.serverPorts, ledger.buffer, answer));
      return isNo(grant) ? ['an acknowledged upload is in no sum: the authority closed with another set'] : [];
    },
  },
};

/** Plays one attack on a fresh bench. */
export function playAttack(name: string): AttackReport {
  const attack = SEALED_ATTACKS[name];
  if (attack === undefined) throw new Error(`no attack "${name}"`);
  const world = new OracleWorld(new Bench(), attack);
  const broken = attack.play(world) ?? [];
  return { ...world.trace.judge(), broken };
}
