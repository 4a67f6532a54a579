/** The user gets its slot: it checks the server's word to the last hash, or leaves the buffer for good. */
import { equalBytes } from '@basa/masking';
import type { KeyRequest, KeyRequestBody } from '../authority-messages.ts';
import { authorityMessages } from '../authority-messages.ts';
import { isInTree, leafHash } from '../merkle.ts';
import { viewsOf } from '../naming.ts';
import type { RefusalReason, Refused } from '../refusals.ts';
import { refused } from '../refusals.ts';
import type { Ticket } from '../statements.ts';
import { isSigned, ticketCodec } from '../statements.ts';
import { declined, unchanged } from '../transition.ts';
import type { DepositAnswer, InboxEntry } from '../user-messages.ts';
import type { ToSign } from './deposit.ts';
import type { Membership, SlottedSession, UserPorts, UserRecord, UserSession, UserStep } from './session.ts';
import { evolveSession } from './session.ts';

/** After this the user never signs another key request in this buffer. */
export function receiveSlot(ports: UserPorts, session: UserSession, answer: DepositAnswer): UserStep<ToSign> {
  if (session.step === 'slotted') {
    const isSame = equalBytes(ticketCodec.encode(session.ticket), ticketCodec.encode(answer.ticket));
    return isSame
      ? unchanged(session, keyRequestToSign(ports, session))
      : declined(session, refused('ticket-not-mine'));
  }
  if (session.step !== 'prepared') return declined(session, refused('wrong-step'));
  const problem = ticketProblem(ports, session.member, answer.ticket) ?? inboxProblem(ports, session.member, answer);
  if (problem !== undefined) return abandonSession(ports, session, problem.reason);
  const ephemeralSecret = ports.randomBytes(32);
  const entry: UserRecord = { kind: 'slotted', ...answer, ephemeralSecret };
  const state = evolveSession(ports.suite, session, entry) as SlottedSession;
  return { state, records: [entry], answer: keyRequestToSign(ports, state), events: [] };
}

/** Leaves the buffer, durably. Refused once bytes may have left: only the authority's outcome frees the update then. */
export function abandonSession<Answer>(
  ports: UserPorts,
  session: UserSession,
  reason: RefusalReason,
): UserStep<Answer> {
  if (session.step !== 'prepared' && session.step !== 'slotted') return declined(session, refused('wrong-step'));
  const entry: UserRecord = { kind: 'abandoned', reason };
  return {
    state: evolveSession(ports.suite, session, entry),
    records: [entry],
    answer: refused(reason),
    events: [{ kind: 'refused', by: 'user', step: 'slot', reason }],
  };
}

export function keyRequestToSign({ suite }: Pick<UserPorts, 'suite'>, session: SlottedSession): ToSign {
  const { keyRequest } = authorityMessages(session.member.descriptor.bufferSize);
  return { statement: keyRequest.statement(keyRequestBody({ suite }, session)) };
}

export function keyRequestMessage(
  ports: Pick<UserPorts, 'suite'>,
  session: SlottedSession,
  signature: Uint8Array,
): KeyRequest {
  return { ...keyRequestBody(ports, session), signature };
}

function keyRequestBody(
  { suite }: Pick<UserPorts, 'suite'>,
  { member, ticket, inbox, ephemeralSecret }: SlottedSession,
): KeyRequestBody {
  return {
    certificate: member.certificate,
    nonce: member.nonce,
    ticket,
    earlier: inbox.map(({ joinTag, root }) => ({ joinTag, root })),
    ephemeralKey: suite.x25519(ephemeralSecret.reveal()).publicKey,
  };
}

/** The ticket is the descriptor's server's word, and about me. */
function ticketProblem(
  { suite }: UserPorts,
  { ctx, descriptor, joinTag, root }: Membership,
  ticket: Ticket,
): Refused | undefined {
  if (!isSigned(suite, ticketCodec, ticket, descriptor.serverKey)) return refused('ticket-invalid');
  const isMine = equalBytes(ticket.ctx, ctx) && equalBytes(ticket.joinTag, joinTag) && equalBytes(ticket.root, root);
  if (!isMine) return refused('ticket-not-mine');
  return ticket.slot < descriptor.bufferSize ? undefined : refused('slot-unknown');
}

/** Exactly one entry of every earlier slot, each at index l of its deposit, and their chain is the view I was told. */
function inboxProblem(ports: UserPorts, member: Membership, { ticket, inbox }: DepositAnswer): Refused | undefined {
  if (inbox.length !== ticket.slot) return refused('inbox-incomplete');
  const misplaced = inbox.flatMap((entry, i) => (isAtSlot(ports, member, entry, ticket) ? [] : [i]));
  if (misplaced.length > 0) return refused('inbox-proof', { slots: misplaced });
  const view = viewsOf(ports.suite, member.ctx, inbox).at(-1);
  return view !== undefined && equalBytes(view, ticket.view) ? undefined : refused('view-mismatch');
}

function isAtSlot({ suite }: UserPorts, { descriptor }: Membership, entry: InboxEntry, { slot }: Ticket): boolean {
  const hash = leafHash(suite, { ...entry, label: slot });
  return isInTree(suite, entry.root, { hash, index: slot - 1, count: descriptor.bufferSize, path: entry.path });
}
