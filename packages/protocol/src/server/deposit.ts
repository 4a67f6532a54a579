/** Accepts a user's sealed seeds and assigns the next slot, with everything sealed to it so far. */
import { equalBytes } from '@basa/masking';
import type { Millis, Slot, UserId, View } from '../wire/brands.ts';
import { userIdOf } from '../wire/certificate.ts';
import { joinTagOf, nextView } from '../wire/naming.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';
import { type Ticket, type TicketBody, ticketCodec } from '../wire/slot-statements.ts';
import { declined, unchanged } from '../wire/transition.ts';
import { type Deposit, depositRootOf, depositStatementCodec } from '../wire/user-messages.ts';
import { certificateProblem } from './enrolled.ts';
import type { ServerPorts } from './ports.ts';
import { type BufferSlot, type BufferStep, evolveSecureBuffer, type SecureBuffer } from './secure-buffer.ts';

/**
 * The slot is durable before the user gets it, with the deposit (in the record, not in the state) and its entries for later inboxes
 * (`outboxOf`). The answer on the wire is the ticket with inbox l.
 */
export function acceptDeposit(
  ports: ServerPorts,
  buffer: SecureBuffer,
  deposit: Deposit,
  now: Millis,
): BufferStep<Ticket> {
  const { suite } = ports;
  const user = userIdOf(suite, deposit.certificate.deviceKey);
  const joinTag = joinTagOf(suite, { ctx: buffer.ctx, user, nonce: deposit.nonce });
  const refuse = (no: Refused) =>
    declined(buffer, no, [{ kind: 'refused', by: 'server', step: 'deposit', reason: no.reason }]);

  const problem = depositProblem(ports, buffer, deposit, now);
  if (problem !== undefined) return refuse(problem);
  const mine = buffer.slots.find((slot) => equalBytes(slot.user, user));
  if (mine !== undefined) {
    const isSame = equalBytes(mine.ticket.joinTag, joinTag) && equalBytes(mine.ticket.root, deposit.root);
    return isSame ? unchanged(buffer, mine.ticket) : refuse(refused('second-deposit'));
  }
  if (buffer.status !== 'filling' || now >= buffer.descriptor.expiry) return refuse(refused('buffer-not-open'));
  if (buffer.slots.length >= buffer.descriptor.bufferSize) return refuse(refused('buffer-full'));

  const body: TicketBody = {
    ctx: buffer.ctx,
    slot: buffer.slots.length as Slot,
    joinTag,
    root: deposit.root,
    view: currentView(ports, buffer),
    deadline: (now + buffer.descriptor.uploadLeaseMs) as Millis,
  };
  const ticket = { ...body, signature: ports.signer.sign(ticketCodec.statement(body)) };
  const entry = { kind: 'deposited' as const, slot: slotOfDeposit(user, deposit, ticket), deposit };
  return {
    state: evolveSecureBuffer(buffer, entry),
    records: [entry],
    answer: ticket,
    events: [{ kind: 'slot-assigned', ctx: buffer.ctx, slot: ticket.slot }],
  };
}

function slotOfDeposit(user: UserId, { certificate, nonce, signature }: Deposit, ticket: Ticket): BufferSlot {
  return {
    user,
    deviceKey: certificate.deviceKey,
    nonce,
    ticket,
    depositSignature: signature,
    status: 'assigned',
    graceMs: 0,
  };
}

function depositProblem(ports: ServerPorts, buffer: SecureBuffer, deposit: Deposit, now: Millis): Refused | undefined {
  const { suite } = ports;
  const { certificate, nonce, root, signature } = deposit;
  const { ctx, descriptor } = buffer;
  if (!equalBytes(deposit.ctx, ctx)) return refused('buffer-unknown');
  if (deposit.entries.length !== descriptor.bufferSize - 1) return refused('root-mismatch');
  const notEnrolled = certificateProblem(ports, descriptor, certificate, now);
  if (notEnrolled !== undefined) return notEnrolled;
  const joinTag = joinTagOf(suite, { ctx, user: userIdOf(suite, certificate.deviceKey), nonce });
  if (!isSigned(suite, depositStatementCodec, { ctx, joinTag, root, signature }, certificate.deviceKey)) {
    return refused('signature-invalid');
  }
  return equalBytes(depositRootOf(suite, deposit.entries), root) ? undefined : refused('root-mismatch');
}

/** V_l of the next slot. */
function currentView({ suite }: ServerPorts, { ctx, slots }: SecureBuffer): View {
  const last = slots.at(-1)?.ticket;
  return last === undefined ? (ctx as Uint8Array as View) : nextView(suite, last.view, last.slot, last);
}
