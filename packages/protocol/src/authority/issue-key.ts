/** Issues its key of a slot's edge to the only user that holds the slot, once, after its view was checked. */
import { equalBytes } from '@basa/masking';
import { authorityMessages, type KeyAnswer, type KeyRequest } from '../wire/authority-messages.ts';
import type { Millis, UserId, View } from '../wire/brands.ts';
import { userIdOf } from '../wire/certificate.ts';
import { endorse, othersOf, signInTerm } from '../wire/council.ts';
import { sealEnvelope } from '../wire/envelope.ts';
import { joinTagOf, viewsOf } from '../wire/naming.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';
import { issuedKeyCodec, receiptCodec, ticketCodec } from '../wire/slot-statements.ts';
import { certifyingCouncil } from '../wire/term.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import { type AuthorityBuffer, type AuthorityPorts, evolveBuffer, ownKeys } from './buffer.ts';
import type { EnrolledDevice } from './device.ts';
import type { KeyIssued } from './records.ts';

/** The authority's knowledge about the sender. */
export interface Asker {
  readonly device: EnrolledDevice | undefined;
  /** The reason why it may not be in one more sum of the task. */
  readonly overBudget: Refused | undefined;
}

export function issueKey(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  { device, overBudget }: Asker,
  request: KeyRequest,
  now: Millis,
): Transition<AuthorityBuffer, KeyIssued, KeyAnswer> {
  const { suite } = ports;
  const { slot } = request.ticket;
  const user = userIdOf(suite, request.certificate.deviceKey);
  const requestDigest = digestOf(ports, buffer, request);
  const refuse = (no: Refused) =>
    declined(buffer, no, [
      { kind: 'refused', by: 'authority', step: 'key', reason: no.reason },
      ...(no.reason === 'server-equivocated'
        ? [{ kind: 'server-fault' as const, ctx: buffer.ctx, slots: no.slots ?? [] }]
        : []),
    ]);

  const problem =
    identityProblem(ports, buffer, device, request, user, now) ?? ticketProblem(ports, buffer, request, user);
  if (problem !== undefined) return refuse(problem);

  const registered = buffer.slots.get(slot);
  if (registered !== undefined && buffer.status !== 'unknown' && equalBytes(registered.requestDigest, requestDigest)) {
    // The same signed request gets the same answer in every status of the buffer, because this reveals nothing new.
    const again = answerOf(ports, buffer, request, registered);
    return 'kind' in again ? refuse(again) : unchanged(buffer, again);
  }
  const conflict = stateProblem(buffer, request, user, now) ?? overBudget ?? viewProblem(ports, buffer, request);
  if (conflict !== undefined) return refuse(conflict);

  const { joinTag, root, view } = request.ticket;
  const { deviceKey } = request.certificate;
  const issued: KeyIssued = {
    kind: 'key-issued',
    ctx: buffer.ctx,
    slot,
    user,
    deviceKey,
    joinTag,
    root,
    view,
    requestDigest,
  };
  const answer = answerOf(ports, buffer, request, issued);
  if ('kind' in answer) return refuse(answer);
  return {
    state: evolveBuffer(buffer, issued),
    records: [issued],
    answer,
    events: [{ kind: 'key-issued', ctx: buffer.ctx, slot }],
  };
}

function digestOf({ suite }: AuthorityPorts, { descriptor }: AuthorityBuffer, request: KeyRequest): Uint8Array {
  return authorityMessages(descriptor.bufferSize).keyRequest.statementHash(suite, request);
}

/** The device signed the request, and is enrolled for this task and not revoked. */
function identityProblem(
  { suite, signer }: AuthorityPorts,
  { descriptor }: AuthorityBuffer,
  device: EnrolledDevice | undefined,
  request: KeyRequest,
  user: UserId,
  now: Millis,
): Refused | undefined {
  const isKnown = device !== undefined && equalBytes(device.user, user);
  const { certificate } = request;
  const { keyRequest } = authorityMessages(descriptor.bufferSize);
  if (!isSigned(suite, keyRequest, request, certificate.deviceKey)) return refused('signature-invalid');
  const council = certifyingCouncil(suite, descriptor, certificate);
  if (council === undefined) return refused('certificate-invalid');
  if (!equalBytes(certificate.task, descriptor.task)) return refused('certificate-invalid');
  if (now > certificate.notAfter) return refused('certificate-expired');
  // The statement of enough others counts if this authority was away, or lost its memory of it: its own then does not.
  if (!isKnown && othersOf(council, signer, certificate) < council.threshold) return refused('not-enrolled');
  return device?.revoked ? refused('revoked') : undefined;
}

/** Checks that the ticket is the server's statement about this user in this buffer. */
function ticketProblem(
  { suite }: AuthorityPorts,
  buffer: AuthorityBuffer,
  request: KeyRequest,
  user: UserId,
): Refused | undefined {
  const { ticket, nonce } = request;
  const { ctx, descriptor } = buffer;
  if (!equalBytes(ticket.ctx, ctx) || !isSigned(suite, ticketCodec, ticket, descriptor.serverKey))
    return refused('ticket-invalid');
  if (ticket.slot >= descriptor.bufferSize) return refused('slot-unknown');
  return equalBytes(joinTagOf(suite, { ctx, user, nonce }), ticket.joinTag) ? undefined : refused('tag-not-yours');
}

function stateProblem(buffer: AuthorityBuffer, request: KeyRequest, user: UserId, now: Millis): Refused | undefined {
  const { slot } = request.ticket;
  if (buffer.slots.has(slot)) return refused('slot-registered', { slots: [slot] });
  const isDecided = buffer.status !== 'open' || buffer.voted !== undefined || buffer.version !== undefined;
  const isOpen = !isDecided && now < buffer.descriptor.expiry;
  if (!isOpen) return refused('buffer-not-open');
  const other = [...buffer.slots.values()].find((issued) => equalBytes(issued.user, user));
  return other === undefined ? undefined : refused('second-slot', { slots: [other.slot] });
}

/** The list must give V_l, and agree with every registered slot before l: otherwise the server signed both. */
function viewProblem(
  { suite }: AuthorityPorts,
  buffer: AuthorityBuffer,
  { ticket, earlier }: KeyRequest,
): Refused | undefined {
  if (earlier.length !== ticket.slot) return refused('view-mismatch');
  const views = viewsOf(suite, buffer.ctx, earlier);
  if (!equalBytes(views[ticket.slot] as View, ticket.view)) return refused('view-mismatch');
  const contradicted = [...buffer.slots.values()].filter((issued) => {
    const claimed = earlier[issued.slot];
    return (
      claimed !== undefined &&
      !(
        equalBytes(claimed.joinTag, issued.joinTag) &&
        equalBytes(claimed.root, issued.root) &&
        equalBytes(views[issued.slot] as View, issued.view)
      )
    );
  });
  return contradicted.length === 0
    ? undefined
    : refused('server-equivocated', { slots: [...contradicted.map(({ slot }) => slot), ticket.slot] });
}

/** The key in an envelope for this request, the receipt, and the authority's signature on both; refused once the epoch is gone. */
function answerOf(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  request: KeyRequest,
  issued: KeyIssued,
): KeyAnswer | Refused {
  const { suite, signer } = ports;
  const own = ownKeys(ports, buffer);
  if (own === undefined) return refused('buffer-not-open');
  const { ctx, slot, joinTag, root, view, requestDigest } = issued;
  const key = own.keys.edge(slot);
  const senderSecret = own.issuer.derive(requestDigest);
  const envelope = sealEnvelope(suite, { senderSecret, recipient: request.ephemeralKey, requestDigest, key });
  const receipt = { ctx, slot, joinTag, root, view };
  const given = { requestDigest, keyHash: suite.sha256(key) };
  senderSecret.fill(0);
  key.fill(0);
  if (envelope === undefined) return refused('key-invalid', { detail: 'the ephemeral key is of small order' });
  return {
    envelope,
    receipt: endorse(receiptCodec, buffer.descriptor, signer, receipt),
    issued: signInTerm(issuedKeyCodec, buffer.descriptor, signer, given),
  };
}
