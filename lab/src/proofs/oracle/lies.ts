/** The lies of a server: answers to deposits and keys, requests to close, and outcomes it makes up. */
import {
  authorityMessages,
  type CloseRequest,
  commitmentOf,
  type Deposit,
  type DepositAnswer,
  depositRootOf,
  depositStatementCodec,
  type InboxEntry,
  joinTagOf,
  type KeyAnswer,
  type KeyRequest,
  type Outcome,
  outcomeCodec,
  type Slot,
  sealEnvelope,
  type Ticket,
  type UploadHeader,
} from '@basa/protocol';
import type { Dice } from './dice.ts';
import type { Ledger, Source } from './ledger.ts';
import type { OracleWorld } from './oracle-world.ts';
import type { WatchedDevice } from './watched-device.ts';

const flipped = <T extends Uint8Array>(bytes: T): T => bytes.map((byte, i) => (i === 5 ? byte ^ 1 : byte)) as T;

/**
 * A deposit of seeds that the server made, with the tag of `as` or of no user. If it replaces a user's deposit, nonce and signature are
 * genuine, and only the seeds are forged.
 */
export function forgedDeposit(world: OracleWorld, ledger: Ledger, as?: Source): Source {
  const { suite } = world.server.ports;
  const { sealings } = world.federation;
  const { ctx } = ledger.buffer;
  const nonce = as?.deposit.nonce ?? world.serverBytes(16);
  const user = as?.user ?? (suite.sha256(nonce) as WatchedDevice['user']);
  const joinTag = as?.joinTag ?? joinTagOf(suite, { ctx, user, nonce });
  const entries = Array.from({ length: world.shape.bufferSize - 1 }, (_, n) => {
    const seed = world.serverBytes(32);
    const sealed = sealings.sealing.sealEdge(ledger.buffer, (n + 1) as Slot, { role: 'edge', joinTag }, seed);
    return { commitment: commitmentOf(suite, seed), sealed };
  });
  const root = depositRootOf(suite, entries);
  const { certificate, signer } = world.users[0] as WatchedDevice;
  const signature = as?.deposit.signature ?? signer.sign(nonce);
  return { deposit: { certificate, ctx, nonce, root, entries, signature }, joinTag, user };
}

/** A colluder's deposit that copies the sealed seeds of another: its own tag and signature, the other's bytes. */
export function copiedDeposit(world: OracleWorld, ledger: Ledger, user: WatchedDevice, victim: Source): Deposit {
  const { suite } = world.server.ports;
  const { ctx } = ledger.buffer;
  const { nonce, certificate } = { nonce: world.serverBytes(16), certificate: user.certificate };
  const joinTag = joinTagOf(suite, { ctx, user: user.user, nonce });
  const { entries, root } = victim.deposit;
  const signature = user.signer.sign(depositStatementCodec.statement({ ctx, joinTag, root }));
  return { certificate, ctx, nonce, root, entries, signature };
}

type DepositLie = (
  world: OracleWorld,
  ledger: Ledger,
  mine: Source,
  honest: DepositAnswer,
  dice: Dice,
) => DepositAnswer;

const resigned = (world: OracleWorld, ticket: Ticket, change: Partial<Ticket>): Ticket => {
  const { signature: _, ...body } = { ...ticket, ...change };
  return world.signedTicket(body);
};
const everyEntry = (answer: DepositAnswer, change: (entry: InboxEntry) => InboxEntry): DepositAnswer => ({
  ...answer,
  inbox: answer.inbox.map(change),
});

/** The server sends each of them to a user instead of the honest answer. */
export const DEPOSIT_LIES: Readonly<Record<string, DepositLie>> = {
  'an inbox made up from end to end': (world, ledger, mine, _, dice) => {
    const length = dice.below(world.shape.bufferSize);
    return world.tell(
      ledger.buffer.ctx,
      Array.from({ length }, () => forgedDeposit(world, ledger)),
      mine,
    );
  },
  'the last slot, with a made-up inbox': (world, ledger, mine) =>
    world.tell(
      ledger.buffer.ctx,
      Array.from({ length: world.shape.bufferSize - 1 }, () => forgedDeposit(world, ledger)),
      mine,
    ),
  'some deposits exchanged for forged ones': (world, ledger, mine, honest, dice) => {
    const before = ledger.sources.slice(0, honest.ticket.slot);
    return world.tell(
      ledger.buffer.ctx,
      before.map((source) => (dice.chance(0.5) ? forgedDeposit(world, ledger) : source)),
      mine,
    );
  },
  "forged deposits under the true users' tags": (world, ledger, mine, honest) => {
    const before = ledger.sources.slice(0, honest.ticket.slot);
    return world.tell(
      ledger.buffer.ctx,
      before.map((source) => forgedDeposit(world, ledger, source)),
      mine,
    );
  },
  'some deposits left out': (world, ledger, mine, honest, dice) => {
    const before = ledger.sources.slice(0, honest.ticket.slot).filter(() => dice.chance(0.5));
    return world.tell(ledger.buffer.ctx, before, mine);
  },
  'the deposits in another order': (world, ledger, mine, honest, dice) =>
    world.tell(ledger.buffer.ctx, dice.shuffled(ledger.sources.slice(0, honest.ticket.slot)), mine),
  'a deposit under the tag of another': (world, ledger, mine, honest) => {
    const before = ledger.sources.slice(0, honest.ticket.slot);
    const shifted = before.map((source, n) => ({ ...source, joinTag: (before.at(n - 1) as Source).joinTag }));
    return world.tell(ledger.buffer.ctx, shifted, mine);
  },
  'a ticket over another root': (world, ledger, mine, honest) => {
    const forged = forgedDeposit(world, ledger, mine);
    return { ...honest, ticket: resigned(world, honest.ticket, { root: forged.deposit.root }) };
  },
  'a ticket with the tag of another': (world, ledger, _, honest, dice) => ({
    ...honest,
    ticket: resigned(world, honest.ticket, { joinTag: dice.pick(ledger.sources).joinTag }),
  }),
  'another slot on the ticket': (world, _, __, honest, dice) => ({
    ...honest,
    ticket: resigned(world, honest.ticket, { slot: dice.below(world.shape.bufferSize + 1) as Slot }),
  }),
  'another view on the ticket': (world, _, __, honest) => ({
    ...honest,
    ticket: resigned(world, honest.ticket, { view: flipped(honest.ticket.view) }),
  }),
  'an unsigned change': (_, __, ___, honest) => ({
    ...honest,
    ticket: { ...honest.ticket, view: flipped(honest.ticket.view) },
  }),
  'the answer of another user': (world, ledger, _, honest, dice) => {
    const slot = dice.below(ledger.sources.length);
    const before = ledger.sources.slice(0, slot);
    return slot === honest.ticket.slot ? honest : world.tell(ledger.buffer.ctx, before, ledger.sources[slot] as Source);
  },
  'forged seeds behind the true roots': (world, ledger, _, honest) => {
    const { slot } = honest.ticket;
    return everyEntry(honest, (entry) => {
      const owner = ledger.sources.find(({ deposit }) => deposit.root === entry.root);
      const forged = forgedDeposit(world, ledger, owner);
      return { ...entry, ...forged.deposit.entries[slot - 1] };
    });
  },
  'an entry cut off': (_, __, ___, honest) => ({ ...honest, inbox: honest.inbox.slice(1) }),
  'a changed ciphertext': (_, __, ___, honest) => everyEntry(honest, (e) => ({ ...e, sealed: flipped(e.sealed) })),
  'a cut proof': (_, __, ___, honest) => everyEntry(honest, (e) => ({ ...e, path: e.path.slice(1) })),
};

/** A key answer with the true receipt, and another key in an envelope that anybody can seal. */
export function withGarbageKey(world: OracleWorld, request: KeyRequest, answer: KeyAnswer): KeyAnswer {
  const { suite } = world.server.ports;
  const { keyRequest } = authorityMessages(world.shape.bufferSize);
  const envelope = sealEnvelope(suite, {
    senderSecret: world.serverBytes(32),
    recipient: request.ephemeralKey,
    requestDigest: suite.sha256(keyRequest.statement(request)),
    key: new Uint8Array(32).fill(9),
  });
  return { ...answer, envelope: envelope ?? answer.envelope };
}

interface KeyStory {
  readonly world: OracleWorld;
  readonly request: KeyRequest;
  readonly honest: KeyAnswer;
  /** Answers that were given before, to any user. */
  readonly earlier: readonly KeyAnswer[];
  readonly dice: Dice;
}

const anotherOf = ({ honest, earlier, dice }: KeyStory): KeyAnswer =>
  earlier.length > 0 ? dice.pick(earlier) : honest;

export const KEY_LIES: Readonly<Record<string, (story: KeyStory) => KeyAnswer>> = {
  'an answer given to another': anotherOf,
  'the envelope of another': (story) => ({ ...story.honest, envelope: anotherOf(story).envelope }),
  'another key in an envelope of the server': ({ world, request, honest }) => withGarbageKey(world, request, honest),
  'a changed envelope': ({ honest }) => ({ ...honest, envelope: flipped(honest.envelope) }),
  'a changed receipt': ({ honest }) => ({
    ...honest,
    receipt: { ...honest.receipt, view: flipped(honest.receipt.view) },
  }),
};

type HeaderLie = (header: UploadHeader) => UploadHeader;
export const HEADER_LIES: Readonly<Record<string, HeaderLie>> = {
  'a stripped void list': (header) => ({ ...header, voids: [] }),
  'a longer void list': (header) => ({ ...header, voids: header.slot > 0 ? [0 as Slot] : [] }),
  'another body hash': (header) => ({ ...header, bodyHash: flipped(header.bodyHash) }),
  'another view': (header) => ({ ...header, view: flipped(header.view) }),
  'another self seed': (header) => ({ ...header, selfName: flipped(header.selfName) }),
};

/** The request with other headers, another order, or a deposit changed. */
export function liedClose(world: OracleWorld, request: CloseRequest, dice: Dice): CloseRequest {
  const { signature: _, ...body } = request;
  const header = dice.pick(Object.values(HEADER_LIES));
  return world.signedClose(
    dice.pick([
      { ...body, headers: body.headers.map((one) => (dice.chance(0.5) ? header(one) : one)) },
      { ...body, deposits: body.deposits.slice(0, -1) },
      { ...body, deposits: dice.shuffled(body.deposits) },
      { ...body, deposits: body.deposits.map((one) => ({ ...one, root: flipped(one.root) })) },
      { ...body, deposits: body.deposits.map((one) => ({ ...one, signature: flipped(one.signature) })) },
      { ...body, headers: dice.shuffled(body.headers) },
    ]),
  );
}

/** "Aborted", or closed without any slot, signed by the server. */
export function liedOutcome(world: OracleWorld, { ctx }: Outcome, status: Outcome['status']): Outcome {
  const body = { ctx, status, accepted: [] };
  return { ...body, signature: world.server.ports.signer.sign(outcomeCodec.statement(body)) };
}
