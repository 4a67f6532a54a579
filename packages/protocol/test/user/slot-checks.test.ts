/** A server that lies about a slot or a key is refused by the user, who leaves the buffer for good. */
import {
  authorityMessages,
  type DepositAnswer,
  type InboxEntry,
  type KeyAnswer,
  millis,
  receiveKey,
  receiveSlot,
  type Ticket,
  ticketCodec,
  type UserSession,
} from '@basa/protocol';
import { type Federation, granted, reasonOf } from '@basa/simulator';
import { atDeposit } from '@basa/testkit/core/at-deposit.ts';
import { describe, expect, it } from 'vitest';
import { issuedKeyCodec } from '../../src/wire/slot-statements.ts';

/** The same ticket with other words, signed by the server. */
function resigned(world: Federation, ticket: Ticket, change: Partial<Ticket>): Ticket {
  const body = { ...ticket, ...change };
  return { ...body, signature: world.server.ports.signer.sign(ticketCodec.statement(body)) };
}

describe('a slot', () => {
  it('is taken from the honest server', () => {
    const { device, answer } = atDeposit();
    expect(receiveSlot(device.ports, device, answer).state.session?.step).toBe('slotted');
  });

  const flip = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte)) as never;
  const lies: [string, string, (world: Federation, answer: DepositAnswer) => DepositAnswer][] = [
    [
      'an unsigned ticket',
      'ticket-invalid',
      (_, a) => ({ ...a, ticket: { ...a.ticket, signature: new Uint8Array(64) } }),
    ],
    [
      'a ticket changed after it was signed',
      'ticket-invalid',
      (_, a) => ({ ...a, ticket: { ...a.ticket, slot: 1 as never } }),
    ],
    [
      'a ticket over other seeds than mine',
      'ticket-not-mine',
      (w, a) => ({ ...a, ticket: resigned(w, a.ticket, { root: flip(a.ticket.root) }) }),
    ],
    [
      "another user's tag",
      'ticket-not-mine',
      (w, a) => ({ ...a, ticket: resigned(w, a.ticket, { joinTag: flip(a.ticket.joinTag) }) }),
    ],
    [
      'another buffer',
      'ticket-not-mine',
      (w, a) => ({ ...a, ticket: resigned(w, a.ticket, { ctx: flip(a.ticket.ctx) }) }),
    ],
    ['a slot beyond K', 'slot-unknown', (w, a) => ({ ...a, ticket: resigned(w, a.ticket, { slot: 4 as never }) })],
    ['an omitted edge', 'inbox-incomplete', (_, a) => ({ ...a, inbox: a.inbox.slice(1) })],
    ['an edge too many', 'inbox-incomplete', (_, a) => ({ ...a, inbox: [...a.inbox, a.inbox[0] as InboxEntry] })],
    [
      'every user is last',
      'inbox-incomplete',
      (w, a) => ({ ...a, ticket: resigned(w, a.ticket, { slot: 3 as never }) }),
    ],
    [
      'a forged edge',
      'inbox-proof',
      (_, a) => ({ ...a, inbox: a.inbox.map((e) => ({ ...e, sealed: flip(e.sealed) })) }),
    ],
    [
      'a forged commitment',
      'inbox-proof',
      (_, a) => ({ ...a, inbox: a.inbox.map((e) => ({ ...e, commitment: flip(e.commitment) })) }),
    ],
    ['a cut proof', 'inbox-proof', (_, a) => ({ ...a, inbox: a.inbox.map((e) => ({ ...e, path: e.path.slice(1) })) })],
    [
      'an edge twice instead of both',
      'view-mismatch',
      (_, a) => ({ ...a, inbox: [a.inbox[0], a.inbox[0]] as InboxEntry[] }),
    ],
    ['edges in another order', 'view-mismatch', (_, a) => ({ ...a, inbox: [...a.inbox].reverse() })],
    [
      'a made-up view',
      'view-mismatch',
      (w, a) => ({ ...a, ticket: resigned(w, a.ticket, { view: flip(a.ticket.view) }) }),
    ],
  ];
  it.each(lies)('with %s is refused (%s) and the buffer left for good', (_, reason, lie) => {
    const { world, device, answer } = atDeposit();
    const step = receiveSlot(device.ports, device, lie(world, answer));
    expect(reasonOf(step.answer)).toBe(reason);
    expect(step.records).toEqual([{ kind: 'abandoned', reason }]);
    expect(reasonOf(receiveSlot(device.ports, step.state, answer).answer)).toBe('wrong-step');
  });

  it('is not given up for another one: after a restart the user still signs only its first request', () => {
    const { world, device, answer } = atDeposit();
    device.persist(receiveSlot(device.ports, device, answer));
    const request = device.keyRequestBytes();
    device.restart();
    const other = {
      ...answer,
      ticket: resigned(world, answer.ticket, { deadline: millis(answer.ticket.deadline + 1) }),
    };
    expect(reasonOf(receiveSlot(device.ports, device, other).answer)).toBe('ticket-not-mine');
    expect(device.keyRequestBytes()).toEqual(request);
  });
});

describe('a key', () => {
  function atKey() {
    const { world, device, answer } = atDeposit();
    device.persist(receiveSlot(device.ports, device, answer));
    const bytes = granted(world.authority.issueKey(device.keyRequestBytes()));
    const keyAnswer = authorityMessages(4).keyAnswer.decode(bytes as Uint8Array);
    return { world, device, keyAnswer };
  }

  it('of the honest authority opens every edge', () => {
    const { device, keyAnswer } = atKey();
    expect(
      receiveKey(device.ports, device.session as UserSession, [{ authority: 0, answer: keyAnswer }]),
    ).toMatchObject({
      kind: 'draft',
      voids: [],
    });
  });

  it.each([
    ['that is not the one whose hash the authority signed', { keyHash: new Uint8Array(32) }],
    ['that it signed for another request', { requestDigest: new Uint8Array(32) }],
    ['that it did not sign for', { signature: new Uint8Array(64) }],
  ])('%s is refused', (_, change: Partial<KeyAnswer['issued']>) => {
    const { world, device, keyAnswer } = atKey();
    const given = { ...keyAnswer.issued, ...change };
    const signature = change.signature ?? world.authority.ports.signer.sign(issuedKeyCodec.statement(given));
    const lie = { ...keyAnswer, issued: { ...given, signature } };
    expect(reasonOf(receiveKey(device.ports, device.session as UserSession, [{ authority: 0, answer: lie }]))).toBe(
      'key-invalid',
    );
  });

  it.each([
    [
      'whose receipt is not signed by the authority',
      'receipt-invalid',
      { receipt: { endorsements: [{ authority: 0, signature: new Uint8Array(64) }] } },
    ],
    ['whose receipt names another slot', 'receipt-invalid', { receipt: { slot: 1 } }],
    ['in an envelope that does not open', 'key-invalid', { envelope: new Uint8Array(80) }],
    ['in no envelope', 'key-invalid', { envelope: new Uint8Array(0) }],
  ])('%s is refused (%s)', (_, reason, change) => {
    const { device, keyAnswer } = atKey();
    const { receipt, ...rest } = change as { receipt?: object; envelope?: Uint8Array };
    const lie = { ...keyAnswer, ...rest, receipt: { ...keyAnswer.receipt, ...receipt } };
    expect(reasonOf(receiveKey(device.ports, device.session as UserSession, [{ authority: 0, answer: lie }]))).toBe(
      reason,
    );
  });
});
