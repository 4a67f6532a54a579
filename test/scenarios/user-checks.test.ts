/** A server or an authority that lies is refused by the user, and the user leaves the buffer for good. */

import { seededWords } from '@basa/cli/simulation';
import type { Ctx, DepositAnswer, InboxEntry, Ticket, UserSession } from '@basa/protocol';
import {
  abandonSession,
  authorityMessages,
  buildInput,
  checkDescriptor,
  descriptorCodec,
  EMPTY_LEDGER,
  evolveLedger,
  freezeUpload,
  judgeOutcome,
  loggedVersion,
  maskInput,
  millis,
  outcomeCodec,
  packMasked,
  prepareDeposit,
  receiveKey,
  receiveSlot,
  releaseSession,
  restoreLedger,
  ticketCodec,
} from '@basa/protocol';
import type { Federation, FederationDevice } from '@basa/simulator';
import { granted, reasonOf } from '@basa/simulator';
import { describe, expect, it } from 'vitest';
import { nodeFederation } from '../support/tools.ts';

/** A device that has sent its deposit to slot 2 of 4, and the honest answer. */
function atDeposit(): { world: Federation; device: FederationDevice; answer: DepositAnswer } {
  const world = nodeFederation({ bufferSize: 4, dimension: 6 });
  const [first, second, device] = [world.device(), world.device(), world.device()];
  first.contribute('deposit');
  second.contribute('deposit');
  device.contribute('seat');
  world.loseReplies.clear();
  const deposit = world.server.deposit;
  let answer: DepositAnswer | undefined;
  world.server.deposit = (bytes) => {
    const honest = deposit.call(world.server, bytes);
    if (honest instanceof Uint8Array) answer = world.server.messages.depositAnswer.decode(honest);
    throw new Error('withheld');
  };
  expect(() => device.contribute('deposit')).toThrow('withheld');
  world.server.deposit = deposit;
  if (answer === undefined) throw new Error('no answer');
  return { world, device, answer };
}

/** The same ticket with other words, signed by the server. */
function resigned(world: Federation, ticket: Ticket, change: Partial<Ticket>): Ticket {
  const body = { ...ticket, ...change };
  return { ...body, signature: world.server.ports.signer.sign(ticketCodec.statement(body)) };
}

describe('a slot', () => {
  it('is taken from the honest server', () => {
    const { device, answer } = atDeposit();
    expect(receiveSlot(device.ports, device.session as UserSession, answer).state.step).toBe('slotted');
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
    const step = receiveSlot(device.ports, device.session as UserSession, lie(world, answer));
    expect(reasonOf(step.answer)).toBe(reason);
    expect(step.records).toEqual([{ kind: 'abandoned', reason }]);
    expect(reasonOf(receiveSlot(device.ports, step.state, answer).answer)).toBe('wrong-step');
  });

  it('is not given up for another one: after a restart the user still signs only its first request', () => {
    const { world, device, answer } = atDeposit();
    device.persist(receiveSlot(device.ports, device.session as UserSession, answer));
    const request = device.keyRequestBytes();
    device.restart();
    const other = {
      ...answer,
      ticket: resigned(world, answer.ticket, { deadline: millis(answer.ticket.deadline + 1) }),
    };
    expect(reasonOf(receiveSlot(device.ports, device.session as UserSession, other).answer)).toBe('ticket-not-mine');
    expect(device.keyRequestBytes()).toEqual(request);
  });
});

describe('a key', () => {
  function atKey() {
    const { world, device, answer } = atDeposit();
    device.persist(receiveSlot(device.ports, device.session as UserSession, answer));
    const bytes = granted(world.authority.issueKey(device.keyRequestBytes()));
    const keyAnswer = authorityMessages(4).keyAnswer.decode(bytes as Uint8Array);
    return { world, device, keyAnswer };
  }

  it('of the honest authority opens every edge', () => {
    const { device, keyAnswer } = atKey();
    expect(receiveKey(device.ports, device.session as UserSession, keyAnswer)).toMatchObject({
      kind: 'draft',
      voids: [],
    });
  });

  it.each([
    ['whose receipt is not signed by the authority', 'receipt-invalid', { receipt: { signature: new Uint8Array(64) } }],
    ['whose receipt names another slot', 'receipt-invalid', { receipt: { slot: 1 } }],
    ['in an envelope that does not open', 'key-invalid', { envelope: new Uint8Array(80) }],
    ['in no envelope', 'key-invalid', { envelope: new Uint8Array(0) }],
  ])('%s is refused (%s)', (_, reason, change) => {
    const { device, keyAnswer } = atKey();
    const { receipt, ...rest } = change as { receipt?: object; envelope?: Uint8Array };
    const lie = { ...keyAnswer, ...rest, receipt: { ...keyAnswer.receipt, ...receipt } };
    expect(reasonOf(receiveKey(device.ports, device.session as UserSession, lie))).toBe(reason);
  });
});

describe('an upload', () => {
  function frozenDevice() {
    const world = nodeFederation({ bufferSize: 3, dimension: 6 });
    const device = world.device();
    device.contribute('key');
    device.receiveKeyAndFreeze('upload');
    return { world, device };
  }

  it('is made of the same bytes after every restart', () => {
    const { device } = frozenDevice();
    const bytes = device.uploadBytes();
    device.restart();
    expect(device.uploadBytes()).toEqual(bytes);
  });

  it('cannot be made of another input than the one fixed before the deposit', () => {
    const { device } = frozenDevice();
    const other = (device.input as Uint32Array).slice();
    other[6] = 77;
    expect(reasonOf(maskInput(device.ports, device.session as UserSession, other))).toBe('delta-committed');
  });

  it('of an update that was given to another buffer, or to another user of this one, is refused', () => {
    const { world, device } = frozenDevice();
    const twin = world.device();
    twin.contribute('deposit');
    const answer = world.authority.issueKey(twin.keyRequestBytes()) as Uint8Array;
    const draft = receiveKey(twin.ports, twin.session as UserSession, authorityMessages(3).keyAnswer.decode(answer));
    if (draft.kind === 'refused' || twin.session?.step !== 'slotted') throw new Error('no draft');
    const masked = packMasked(twin.session, twin.input as Uint32Array);
    const { ctx, joinTag, deltaId } = twin.session.member;
    const other = (device.session as UserSession).member.joinTag;
    for (const given of [
      { ctx: new Uint8Array(32) as Ctx, joinTag },
      { ctx, joinTag: other },
    ]) {
      const ledger = evolveLedger(EMPTY_LEDGER, { kind: 'committed', deltaId, ...given });
      expect(reasonOf(freezeUpload(twin.ports, ledger, twin.session, draft, masked).answer)).toBe('delta-committed');
    }
  });

  it('cannot be abandoned once its bytes may have left', () => {
    const { device } = frozenDevice();
    expect(reasonOf(abandonSession<object>(device.ports, device.session as UserSession, 'abandoned').answer)).toBe(
      'wrong-step',
    );
  });
});

describe('the ledger of a device', () => {
  it('lets it enter a buffer once, ever, also after it left', () => {
    const { device } = atDeposit();
    const { descriptor } = (device.session as UserSession).member;
    const left = abandonSession<object>(device.ports, device.session as UserSession, 'inbox-proof');
    expect(left.state.step).toBe('abandoned');
    const input = {
      descriptor: descriptor as never,
      certificate: device.certificate,
      deltaId: device.deltaId,
      inputDigest: new Uint8Array(32),
    };
    expect(reasonOf(prepareDeposit(device.ports, device.ledger, input).answer)).toBe('abandoned');
  });

  it('frees an update by the outcome alone, is rebuilt from its records, and ends the session', () => {
    const world = nodeFederation({ bufferSize: 3, dimension: 6 });
    const [first, second, left] = [world.device(), world.device(), world.device()];
    first.contribute();
    second.contribute();
    left.contribute('key');
    left.receiveKeyAndFreeze('upload');
    expect(reasonOf(left.release())).toBe('outcome-undecided');
    world.server.finish(left.ctx, 'stalled');
    expect(first.release()).toEqual({ kind: 'included' });
    const { ctx, joinTag } = (left.session as UserSession).member;
    const records = [
      { kind: 'entered', ctx },
      { kind: 'committed', deltaId: left.deltaId, ctx, joinTag },
    ] as const;
    expect(restoreLedger(records)).toEqual(left.ledger);
    expect(left.release()).toEqual({ kind: 'free' });
    expect(restoreLedger([...records, { kind: 'released', deltaId: left.deltaId }])).toEqual(left.ledger);
    expect(releaseSession(left.ports, left.session as UserSession).state.step).toBe('released');
  });
});

describe('an outcome', () => {
  function outcomes() {
    const world = nodeFederation({ bufferSize: 3, dimension: 6 });
    const [first, second, left] = [world.device(), world.device(), world.device()];
    first.contribute();
    second.contribute();
    left.contribute('key');
    left.receiveKeyAndFreeze('upload');
    const commitment = { ctx: left.ctx, joinTag: (left.session as UserSession).member.joinTag };
    return { world, first, left, commitment };
  }

  it('frees an update only when the buffer closed without it or was aborted', () => {
    const { world, left, commitment } = outcomes();
    expect(reasonOf(judgeOutcome(left.ports, commitment, world.authority.outcome(left.ctx)))).toBe('outcome-undecided');
    world.server.finish(left.ctx, 'stalled');
    const closed = world.authority.outcome(left.ctx);
    expect(judgeOutcome(left.ports, commitment, closed)).toEqual({ kind: 'free' });
    const included = { ...commitment, joinTag: closed.accepted[0]?.joinTag as never };
    expect(judgeOutcome(left.ports, included, closed)).toEqual({ kind: 'included' });
  });

  it('of a server that says "aborted" frees nothing', () => {
    const { world, left, commitment } = outcomes();
    const body = { ctx: left.ctx, status: 'aborted' as const, accepted: [] };
    const lie = { ...body, signature: world.server.ports.signer.sign(outcomeCodec.statement(body)) };
    expect(reasonOf(judgeOutcome(left.ports, commitment, lie))).toBe('outcome-invalid');
  });

  it('of another buffer frees nothing', () => {
    const { world, left, commitment } = outcomes();
    const other = world.authority.outcome(new Uint8Array(32) as never);
    expect(other.status).toBe('unknown');
    expect(reasonOf(judgeOutcome(left.ports, commitment, other))).toBe('outcome-invalid');
  });
});

describe('a descriptor', () => {
  const world = nodeFederation({ bufferSize: 4, minimum: 3, dimension: 6 });
  const descriptor = granted(world.server.seat(world.device().certificate));
  const signedBy = (signer: { sign(message: Uint8Array): Uint8Array }, change: object) => {
    const body = { ...descriptor, ...change };
    return { ...body, signature: signer.sign(descriptorCodec.statement(body)) };
  };
  const suite = world.server.ports.suite;
  const check = (change: object, signer = world.authority.ports.signer) =>
    checkDescriptor(suite, world.pins, signedBy(signer, change), world.now);

  it('of the authority that follows the pinned policy is accepted, also with a higher minimum', () => {
    expect(check({}).kind).toBe('seated');
    expect(check({ minimum: 4 }).kind).toBe('seated');
  });

  it.each([
    ['a smaller minimum', { minimum: 2 }],
    ['another K', { bufferSize: 3 }],
    ['another dimension', { dimension: 7 }],
    ['another clip', { clip: 2 }],
    ['another level', { level: 2 }],
    ['another staleness', { staleness: { kind: 'polynomial', exponent: 5 } }],
    ['more staleness', { maxStaleness: 1000 }],
    ['another server', { serverKey: new Uint8Array(32) }],
    ['another engine', { engine: 2 }],
    ['another weight scale', { weightScale: 1 }],
    ['another manifest', { manifestHash: new Uint8Array(32).fill(1) }],
    ['another group', { modulus: { kind: 'field' } }],
  ])('with %s is refused', (_, change) => {
    expect(reasonOf(check(change))).toBe('descriptor-policy');
  });

  it('signed by the server, or of another authority, is refused', () => {
    expect(reasonOf(check({}, world.server.ports.signer))).toBe('descriptor-invalid');
    expect(reasonOf(check({ authorityKeyId: new Uint8Array(32) }))).toBe('descriptor-invalid');
  });

  it('that has expired is refused', () => {
    expect(reasonOf(checkDescriptor(suite, world.pins, descriptor, descriptor.expiry))).toBe('buffer-not-open');
  });
});

describe('an update', () => {
  const world = nodeFederation({
    bufferSize: 3,
    dimension: 4,
    maxStaleness: 2,
    staleness: { kind: 'polynomial', exponent: 0.5 },
  });
  const descriptor = { ...granted(world.server.seat(world.device().certificate)), version: 5 };
  const build = (delta: number[], trainedOn: number, more: object = {}) =>
    buildInput(descriptor, { delta: Float32Array.from(delta), trainedOn, randomWords: seededWords(1), ...more });

  it('is weighed by its staleness, in the group', () => {
    expect(build([1, 0, 0, 0], 5)).toMatchObject({ weight: 65_536, staleness: 0 });
    expect(build([1, 0, 0, 0], 4)).toMatchObject({ weight: Math.round(65_536 / Math.SQRT2), staleness: 1 });
    expect(build([1, 0, 0, 0], 9)).toMatchObject({ weight: 65_536, staleness: 0 });
    expect(build([1, 0, 0, 0], 5, { exampleWeight: 0.5 })).toMatchObject({ weight: 32_768 });
  });

  it('carries guard words and weight before its entries', () => {
    const built = build([1, -1, 0, 0], 5);
    expect(built.kind === 'input' && [...built.vector]).toEqual([1, 0, 0, 0, 65_536, 1, 4_294_967_295, 0, 0]);
  });

  it('that is too stale, too short, not finite or zero on a block is refused', () => {
    expect(reasonOf(build([1, 0, 0, 0], 2))).toBe('too-stale');
    expect(reasonOf(build([1, 0, 0], 5))).toBe('wrong-length');
    expect(reasonOf(build([1, Number.NaN, 0, 0], 5))).toBe('not-finite');
    expect(
      reasonOf(
        build([1, 1, 0, 0], 5, {
          blocks: [
            [0, 2],
            [2, 2],
          ],
        }),
      ),
    ).toBe('zero-block');
    expect(
      build([1, 1, 0, 1], 5, {
        blocks: [
          [0, 2],
          [2, 2],
        ],
      }).kind,
    ).toBe('input');
  });
});

describe('a model', () => {
  it('is trained on only when the authority logged its hash', () => {
    const world = nodeFederation({ bufferSize: 3 });
    const entry = world.authority.core.newestModel(world.task);
    if (entry === undefined) throw new Error('no entry');
    const { suite } = world.server.ports;
    expect(loggedVersion(suite, world.pins, entry, entry.modelHash)).toBe(0);
    expect(loggedVersion(suite, world.pins, entry, new Uint8Array(32))).toBeUndefined();
    expect(loggedVersion(suite, world.pins, { ...entry, version: 9 }, entry.modelHash)).toBeUndefined();
  });
});
