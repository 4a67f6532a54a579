/** The user gets its slot. It checks every hash of the server's statement, and leaves the buffer permanently if a check fails. */
import { equalBytes } from '@basa/masking';
import { authorityMessages, type KeyRequest, type KeyRequestBody } from '../wire/authority-messages.ts';
import { isInTree, leafHash } from '../wire/merkle.ts';
import { viewsOf } from '../wire/naming.ts';
import { type RefusalReason, type Refused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';
import { type Ticket, ticketCodec } from '../wire/slot-statements.ts';
import { declined, unchanged } from '../wire/transition.ts';
import type { DepositAnswer, InboxEntry } from '../wire/user-messages.ts';
import type { ToSign } from './deposit.ts';
import { type Device, type DeviceStep, recorded, restoreDevice } from './device.ts';
import type { Membership, SlottedSession, UserPorts, UserRecord } from './session.ts';

/** After this the user never signs another key request in this buffer. */
export function receiveSlot(ports: UserPorts, device: Device, answer: DepositAnswer): DeviceStep<ToSign> {
  const { session } = device;
  if (session?.step === 'slotted') {
    const isSame = equalBytes(ticketCodec.encode(session.ticket), ticketCodec.encode(answer.ticket));
    return isSame ? unchanged(device, keyRequestToSign(session)) : declined(device, refused('ticket-not-mine'));
  }
  if (session?.step !== 'prepared') return declined(device, refused('wrong-step'));
  const problem = ticketProblem(ports, session.member, answer.ticket) ?? inboxProblem(ports, session.member, answer);
  if (problem !== undefined) return abandonSession(ports, device, problem.reason);
  const ephemeralSecret = ports.randomBytes(32);
  const records: UserRecord[] = [{ kind: 'slotted', ...answer, ephemeralSecret }];
  const state = restoreDevice(ports.suite, records, device);
  return { state, records, answer: keyRequestToSign(state.session as SlottedSession), events: [] };
}

/** Leaves the buffer, durably. Refused once bytes may have left: only the authority's outcome frees the update then. */
export function abandonSession(ports: UserPorts, device: Device, reason: RefusalReason): DeviceStep<never> {
  const step = device.session?.step;
  if (step !== 'prepared' && step !== 'slotted') return declined(device, refused('wrong-step'));
  const events = [{ kind: 'refused', by: 'user', step: 'slot', reason } as const];
  return recorded<never>(ports.suite, device, [{ kind: 'abandoned', reason }], refused(reason), events);
}

export function keyRequestToSign(session: SlottedSession): ToSign {
  const { keyRequest } = authorityMessages(session.member.descriptor.bufferSize);
  return { statement: keyRequest.statement(keyRequestBody(session)) };
}

export function keyRequestMessage(session: SlottedSession, signature: Uint8Array): KeyRequest {
  return { ...keyRequestBody(session), signature };
}

function keyRequestBody({ member, ticket, inbox, ephemeralKey }: SlottedSession): KeyRequestBody {
  return {
    certificate: member.certificate,
    nonce: member.nonce,
    ticket,
    earlier: inbox.map(({ joinTag, root }) => ({ joinTag, root })),
    ephemeralKey,
  };
}

/** Checks that the ticket is signed by the descriptor's server, and is about me. */
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

/** Exactly one entry of every earlier slot, each the one for slot l of its deposit, and their chain is the view in my ticket. */
function inboxProblem(ports: UserPorts, member: Membership, { ticket, inbox }: DepositAnswer): Refused | undefined {
  if (inbox.length !== ticket.slot) return refused('inbox-incomplete');
  const misplaced = inbox.flatMap((entry, i) => (isAtSlot(ports, member, entry, ticket) ? [] : [i]));
  if (misplaced.length > 0) return refused('inbox-proof', { slots: misplaced });
  const view = viewsOf(ports.suite, member.ctx, inbox).at(-1);
  return view !== undefined && equalBytes(view, ticket.view) ? undefined : refused('view-mismatch');
}

function isAtSlot({ suite }: UserPorts, { descriptor }: Membership, entry: InboxEntry, { slot }: Ticket): boolean {
  const hash = leafHash(suite, { ...entry, label: slot });
  return isInTree(suite, entry.root, { hash, index: slot - 1, count: descriptor.bufferSize - 1, path: entry.path });
}
