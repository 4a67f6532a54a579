/** Forgeries that a malicious server can make with its own key and the public keys of all parties: tickets, inboxes and fake deposits. */
import { toHex } from '@basa/masking';
import {
  authorityMessages,
  type Ctx,
  checkDrawnBuffer,
  commitmentOf,
  type Deposit,
  depositMessage,
  EMPTY_LEDGER,
  type InboxEntry,
  type JoinTag,
  joinTagOf,
  outboxOf,
  type PreparedSession,
  prepareDeposit,
  type Slot,
  type Ticket,
  ticketCodec,
  userIdOf,
  viewsOf,
} from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { SealedScene } from './sealed-scene.ts';

/** A deposit as a chain of views holds it, real or made up. */
export interface ChainLink {
  readonly joinTag: JoinTag;
  readonly deposit: Deposit;
}

/** The real deposits of a buffer, in slot order. */
export function chainOf({ world }: SealedScene, ctx: Ctx): readonly ChainLink[] {
  const { slots } = world.server.buffer(ctx);
  return world.server.deposits(ctx).map((deposit, slot) => {
    const { joinTag } = (slots[slot] as (typeof slots)[number]).ticket;
    return { joinTag, deposit };
  });
}

/** The deposit that came in, as a link. */
export function linkOf({ world }: SealedScene, bytes: Uint8Array): ChainLink {
  const { suite } = world.environment.tools;
  const deposit = world.server.messages.deposit.decode(bytes);
  const { ctx, nonce, certificate } = deposit;
  return { deposit, joinTag: joinTagOf(suite, { ctx, user: userIdOf(suite, certificate.deviceKey), nonce }) };
}

/** A valid deposit of no real user, over seeds the server drew; under a real user's tag if one is given. */
export function fakeDeposit({ world, adversary }: SealedScene, ctx: Ctx, joinTag?: JoinTag): ChainLink {
  const { suite } = world.environment.tools;
  const drawn = world.server.buffer(ctx);
  const { randomBytes, sealings } = world;
  const ports = { suite, randomBytes, sealing: sealings.sealing };
  const certificate = {
    task: world.task,
    deviceKey: randomBytes(32),
    issuedAt: world.now,
    notAfter: drawn.descriptor.closeBy,
    endorsements: [],
  };
  const { descriptor, slotKeys } = granted(checkDrawnBuffer(suite, world.pins, drawn, world.now, drawn.descriptor));
  const made = prepareDeposit(
    ports,
    { ledger: EMPTY_LEDGER, session: undefined },
    {
      descriptor,
      slotKeys,
      certificate,
      deltaId: new Uint8Array(16),
      inputDigest: new Uint8Array(32),
    },
  ).state.session as PreparedSession;
  for (const seed of made.edges) {
    adversary.knowSeed(toHex(commitmentOf(suite, seed.reveal())), seed.reveal().slice());
  }
  return { joinTag: joinTag ?? made.member.joinTag, deposit: depositMessage(made, new Uint8Array(64)) };
}

/** "You are in slot l, after these": a ticket with a chain and proofs that verify, true or not. */
export function forgedAnswer(scene: SealedScene, mine: ChainLink, earlier: readonly ChainLink[]): Uint8Array {
  const { server } = scene.world;
  return server.messages.depositAnswer.encode({
    ticket: forgedTicket(scene, mine, earlier),
    inbox: forgedInbox(scene, earlier),
  });
}

export function forgedTicket({ world }: SealedScene, mine: ChainLink, earlier: readonly ChainLink[]): Ticket {
  const { suite } = world.environment.tools;
  const { ctx, root } = mine.deposit;
  const links = earlier.map(({ joinTag, deposit }) => ({ joinTag, root: deposit.root }));
  const body: Omit<Ticket, 'signature'> = {
    ctx,
    slot: earlier.length as Slot,
    joinTag: mine.joinTag,
    root,
    view: viewsOf(suite, ctx, links).at(-1) as Ticket['view'],
    deadline: world.now,
  };
  return { ...body, signature: world.server.ports.signer.sign(ticketCodec.statement(body)) };
}

export function forgedInbox({ world }: SealedScene, earlier: readonly ChainLink[]): readonly InboxEntry[] {
  const { suite } = world.environment.tools;
  return earlier.map(({ joinTag, deposit }, i) => {
    const outbox = outboxOf(suite, deposit, { joinTag, slot: i as Slot });
    return outbox[earlier.length - i - 1] as InboxEntry;
  });
}

/** A request to close, with deposits and accepted slots of the server's choice and the headers it has. */
export function forgedClose(
  { world, headers }: SealedScene,
  ctx: Ctx,
  chain: readonly ChainLink[],
  accepted: readonly number[],
): void {
  const { closeRequest } = authorityMessages(world.policy.bufferSize);
  const body = {
    ctx,
    deposits: chain.map(({ deposit: { certificate, nonce, root, signature } }) => ({
      deviceKey: certificate.deviceKey,
      nonce,
      root,
      signature,
    })),
    accepted: accepted.map((slot) => slot as Slot),
    headers: accepted.map((slot) => headers.get(toHex((chain[slot] as ChainLink).joinTag)) ?? anyOf(headers)),
    votes: [],
  };
  const signature = world.server.ports.signer.sign(closeRequest.statement(body));
  world.authority.close(closeRequest.encode({ ...body, signature }));
}

/** If there is no header of a slot, the server shows one of another slot. */
function anyOf<T>(values: ReadonlyMap<string, T>): T {
  const [first] = values.values();
  if (first === undefined) throw new Error('no header was seen');
  return first;
}
