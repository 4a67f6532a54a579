/** What the authority refuses, and that a refusal changes nothing. */

import type {
  CertificateBody,
  CloseRequest,
  KeyRequest,
  ModelAppend,
  Slot,
  TaskId,
  TaskPolicy,
  UploadHeader,
} from '@basa/protocol';
import {
  authorityMessages,
  bufferRequestCodec,
  certificateCodec,
  closeRequestOf,
  millis,
  modelAppendCodec,
  ticketCodec,
  viewsOf,
} from '@basa/protocol';
import type { Federation, FederationDevice } from '@basa/simulator';
import { CLOSE_MS, granted, OPEN_MS, reasonOf } from '@basa/simulator';
import { describe, expect, it } from 'vitest';
import { nodeFederation } from '../support/tools.ts';

const messages = authorityMessages(4);

/** Three devices: two with their keys, the third with a slot and no key yet. */
function atKey() {
  const world = nodeFederation({ bufferSize: 4, dimension: 6 });
  const [first, second, third] = [world.device(), world.device(), world.device()];
  first.contribute('key');
  second.contribute('key');
  third.contribute('deposit');
  const request = messages.keyRequest.decode(third.keyRequestBytes());
  return { world, first, second, third, request };
}

/** The request with other words, signed by the device that asks. */
function asked(
  world: Federation,
  device: Pick<FederationDevice, 'signer'>,
  request: KeyRequest,
  change: Partial<KeyRequest> = {},
) {
  const body = { ...request, ...change };
  const signature = device.signer.sign(messages.keyRequest.statement(body));
  return world.authority.issueKey(messages.keyRequest.encode({ ...body, signature }));
}

/** The authority's own signature over these words. */
function certified(world: Federation, body: CertificateBody) {
  return { ...body, signature: world.authority.ports.signer.sign(certificateCodec.statement(body)) };
}

function signTicket(world: Federation, request: KeyRequest, change: object) {
  const body = { ...request.ticket, ...change };
  return { ...body, signature: world.server.ports.signer.sign(ticketCodec.statement(body)) };
}

describe('a key', () => {
  it('is issued once: the same request gets the same answer, byte for byte, and no further record', () => {
    const { world, third, request } = atKey();
    const answer = asked(world, third, request);
    const records = world.authority.log.length;
    expect(answer).toBeInstanceOf(Uint8Array);
    expect(asked(world, third, request)).toEqual(answer);
    expect(world.authority.log.length).toBe(records);
  });

  it('for another request of the same slot is refused, also with a fresh ephemeral key', () => {
    const { world, third, request } = atKey();
    asked(world, third, request);
    expect(reasonOf(asked(world, third, request, { ephemeralKey: world.randomBytes(32) }))).toBe('slot-registered');
  });

  const refusals: [string, string, (s: ReturnType<typeof atKey>) => object][] = [
    ['signed by another device', 'signature-invalid', ({ world, first, request }) => asked(world, first, request)],
    [
      "under another device's certificate",
      'tag-not-yours',
      ({ world, first, request }) => asked(world, first, request, { certificate: first.certificate }),
    ],
    [
      'with a certificate the authority did not sign',
      'certificate-invalid',
      ({ world, third, request }) =>
        asked(world, third, request, { certificate: { ...request.certificate, notAfter: millis(1) } }),
    ],
    [
      'with a certificate that has ended',
      'certificate-expired',
      ({ world, third, request }) =>
        asked(world, third, request, {
          certificate: certified(world, { ...request.certificate, notAfter: millis(1) }),
        }),
    ],
    [
      'with a certificate for another task',
      'certificate-invalid',
      ({ world, third, request }) =>
        asked(world, third, request, {
          certificate: certified(world, { ...request.certificate, task: new Uint8Array(32) as TaskId }),
        }),
    ],
    [
      'of a device that holds a certificate and is not enrolled',
      'not-enrolled',
      ({ world, request }) => {
        const stranger = { signer: world.signer() };
        const deviceKey = stranger.signer.publicKey;
        return asked(world, stranger, request, {
          certificate: certified(world, { ...request.certificate, deviceKey }),
        });
      },
    ],
    [
      'of a revoked device',
      'revoked',
      ({ world, third, request }) => {
        world.authority.persist(world.authority.core.revoke(third.user, world.now));
        return asked(world, third, request);
      },
    ],
    [
      'with a ticket the server did not sign',
      'ticket-invalid',
      ({ world, third, request }) => asked(world, third, request, { ticket: { ...request.ticket, slot: 3 as Slot } }),
    ],
    [
      'with another nonce than the tag is made of',
      'tag-not-yours',
      ({ world, third, request }) => asked(world, third, request, { nonce: new Uint8Array(16) }),
    ],
    [
      'with a list that is too short',
      'view-mismatch',
      ({ world, third, request }) => asked(world, third, request, { earlier: request.earlier.slice(1) }),
    ],
    [
      'with a list that does not give the view',
      'view-mismatch',
      ({ world, third, request }) => asked(world, third, request, { earlier: [...request.earlier].reverse() }),
    ],
    [
      'after expiry',
      'buffer-not-open',
      ({ world, third, request }) => {
        world.now = millis(world.now + OPEN_MS);
        return asked(world, third, request);
      },
    ],
    [
      'for a slot that is taken',
      'slot-registered',
      ({ world, third, request }) =>
        asked(world, third, request, {
          ticket: signTicket(world, request, { slot: 0, view: request.ticket.ctx }),
          earlier: [],
        }),
    ],
  ];
  it.each(refusals)('%s is refused (%s), and nothing changes', (_, reason, ask) => {
    const scene = atKey();
    const { world, request } = scene;
    const before = world.authority.core.buffer(request.ticket.ctx);
    expect(reasonOf(ask(scene))).toBe(reason);
    expect(world.authority.core.buffer(request.ticket.ctx)).toEqual(before);
  });

  it('for a second slot of one user is refused', () => {
    const { world, third, request } = atKey();
    asked(world, third, request);
    const next = { joinTag: request.ticket.joinTag, root: request.ticket.root };
    const earlier = [...request.earlier, next];
    const { suite } = world.server.ports;
    const view = viewsOf(suite, request.ticket.ctx, earlier).at(-1);
    const ticket = signTicket(world, request, { slot: 3, view });
    expect(reasonOf(asked(world, third, request, { ticket, earlier }))).toBe('second-slot');
  });

  it('of a user who was shown another history proves the fault of the server, who signed both', () => {
    const { world, third, request } = atKey();
    const [first, second] = request.earlier as [KeyRequest['earlier'][number], KeyRequest['earlier'][number]];
    const earlier = [{ ...first, root: second.root }, second];
    const ticket = signTicket(world, request, {
      view: viewsOf(world.server.ports.suite, request.ticket.ctx, earlier).at(-1),
    });
    const body = { ...request, ticket, earlier };
    const step = world.authority.core.issueKey(
      { ...body, signature: third.signer.sign(messages.keyRequest.statement(body)) },
      world.now,
    );
    expect(step.answer).toMatchObject({ reason: 'server-equivocated', slots: [0, 1, 2] });
    expect(step.events).toContainEqual(expect.objectContaining({ kind: 'server-fault' }));
    expect(step.records).toEqual([]);
  });
});

/** A frozen buffer of four slots, of which the last quit, and the server's request. */
function atClose() {
  const world = nodeFederation({ bufferSize: 4, minimum: 2, dimension: 6 });
  const devices = Array.from({ length: 4 }, () => world.device());
  for (const [n, device] of devices.entries()) granted(device.contribute(n === 3 ? 'key' : 'upload'));
  const { ctx } = devices[0] as FederationDevice;
  granted(world.server.freeze(ctx, 'stalled'));
  const request = granted(closeRequestOf(world.server.ports, world.server.buffer(ctx)));
  return { world, devices, ctx, request };
}

function closed(world: Federation, request: CloseRequest, change: Partial<CloseRequest> = {}) {
  const body = { ...request, ...change };
  const signature = world.server.ports.signer.sign(messages.closeRequest.statement(body));
  return world.authority.close(messages.closeRequest.encode({ ...body, signature }));
}

describe('a close', () => {
  it('releases the self key of every accepted slot, edge and drop of every other, never both of one', () => {
    const { world, request } = atClose();
    const { keys, outcome } = granted(closed(world, request));
    expect(keys.map(({ slot, role }) => `${role} ${slot}`)).toEqual(['self 0', 'self 1', 'self 2', 'edge 3', 'drop 3']);
    expect(outcome.accepted.map(({ slot }) => slot)).toEqual([0, 1, 2]);
  });

  it('is final: asked again with another set, the recorded set and its keys are answered', () => {
    const { world, request } = atClose();
    const first = granted(closed(world, request));
    const records = world.authority.log.length;
    const again = granted(
      closed(world, request, { accepted: request.accepted.slice(1), headers: request.headers.slice(1) }),
    );
    expect(again).toEqual(first);
    expect(world.authority.log.length).toBe(records);
  });

  const [flipped, zero] = [
    (bytes: Uint8Array) => bytes.map((byte, i) => (i ? byte : byte ^ 1)) as never,
    new Uint8Array(64),
  ];
  const withDeposit = (request: CloseRequest, slot: number, change: object) => ({
    deposits: request.deposits.map((deposit, n) => (n === slot ? { ...deposit, ...change } : deposit)),
  });
  const withHeader = (request: CloseRequest, n: number, change: Partial<UploadHeader>) => ({
    headers: request.headers.map((header, m) => (m === n ? { ...header, ...change } : header)),
  });
  const refusals: [string, string, (request: CloseRequest) => Partial<CloseRequest>][] = [
    ['too few slots', 'too-few', (r) => ({ accepted: r.accepted.slice(0, 1), headers: r.headers.slice(0, 1) })],
    ['a header missing', 'close-mismatch', (r) => ({ headers: r.headers.slice(1) })],
    ['an accepted slot that is not listed', 'close-mismatch', (r) => ({ deposits: r.deposits.slice(0, 2) })],
    ['one user in two slots', 'duplicate-user', (r) => withDeposit(r, 3, { user: r.deposits[0]?.user })],
    ['a deposit signature that does not verify', 'close-mismatch', (r) => withDeposit(r, 1, { signature: zero })],
    ['another root', 'close-mismatch', (r) => withDeposit(r, 0, { root: flipped(r.deposits[0]?.root as Uint8Array) })],
    ['a header without its signature', 'close-mismatch', (r) => withHeader(r, 2, { signature: zero })],
    [
      'a header stripped of its view',
      'close-mismatch',
      (r) => withHeader(r, 2, { view: flipped(r.headers[2]?.view as Uint8Array) }),
    ],
    ['a header of another slot', 'close-mismatch', (r) => withHeader(r, 2, { slot: 1 as Slot })],
    [
      'a slot whose key was never issued',
      'close-mismatch',
      (r) => ({ accepted: [...r.accepted.slice(0, 2), 3 as Slot] }),
    ],
  ];
  it.each(refusals)('with %s is refused (%s), records nothing and can be asked again rightly', (_, reason, change) => {
    const { world, request } = atClose();
    const records = world.authority.log.length;
    expect(reasonOf(closed(world, request, change(request)))).toBe(reason);
    expect(world.authority.log.length).toBe(records);
    granted(closed(world, request));
  });

  it('with a void edge between two accepted slots is refused', () => {
    const { world, devices, request } = atClose();
    const victim = devices[2] as FederationDevice;
    const header = { ...(request.headers[2] as UploadHeader), voids: [0 as Slot] };
    const signature = victim.signer.sign(messages.uploadHeader.statement(header));
    const no = closed(world, request, withHeader(request, 2, { ...header, signature }));
    expect(no).toMatchObject({ reason: 'void-edge', slots: [0, 2] });
  });

  it('not signed by the server of the descriptor is refused', () => {
    const { world, request } = atClose();
    expect(reasonOf(world.authority.close(messages.closeRequest.encode({ ...request, signature: zero })))).toBe(
      'server-unknown',
    );
  });

  it('after closeBy is too late: the buffer is aborted for ever, and that is on disk before the no', () => {
    const { world, ctx, request } = atClose();
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    expect(reasonOf(closed(world, request))).toBe('buffer-over');
    expect(world.authority.records.at(-1)).toEqual({ kind: 'buffer-aborted', ctx });
    expect(world.authority.outcome(ctx).status).toBe('aborted');
    expect(reasonOf(closed(world, request))).toBe('buffer-over');
  });
});

describe('the model log', () => {
  function appended(
    world: Federation,
    body: Omit<ModelAppend, 'signature' | 'task'>,
    signer = world.server.ports.signer,
  ) {
    const whole = { ...body, task: world.task };
    return world.authority.appendModel(
      modelAppendCodec.encode({ ...whole, signature: signer.sign(modelAppendCodec.statement(whole)) }),
    );
  }

  it('takes one hash per version, the next version only, from a closed buffer that made none, signed by the server', () => {
    const { world, ctx, request } = atClose();
    const modelHash = new Uint8Array(32).fill(1);
    const next = { version: 1, modelHash, ctx };
    expect(reasonOf(appended(world, next))).toBe('buffer-not-closed');
    granted(closed(world, request));
    expect(reasonOf(appended(world, { ...next, version: 2 }))).toBe('wrong-version');
    expect(reasonOf(appended(world, { ...next, ctx: new Uint8Array(32) as never }))).toBe('buffer-unknown');
    expect(reasonOf(appended(world, next, world.signer()))).toBe('server-unknown');
    const entry = granted(appended(world, next));
    expect(appended(world, next)).toEqual(entry);
    expect(reasonOf(appended(world, { ...next, modelHash: new Uint8Array(32) }))).toBe('other-model');
    expect(reasonOf(appended(world, { ...next, version: 2 }))).toBe('buffer-used');
    const first = {
      version: 0,
      modelHash: world.server.ports.suite.sha256(Uint8Array.of(0)),
      ctx: new Uint8Array(32) as never,
    };
    expect(appended(world, first)).toMatchObject({ version: 0 });
    expect(reasonOf(appended(world, { ...first, ctx }))).toBe('other-model');
  });
});

describe('a task', () => {
  it('whose sums could wrap is refused with a sentence that says what to change', () => {
    expect(() => nodeFederation({ bufferSize: 4000, modulus: { kind: 'ring', bits: 12 } })).toThrow();
    const world = nodeFederation({ bufferSize: 4 });
    const step = world.authority.core.createTask({ ...world.policy, level: 2 ** 31, clip: 100 });
    expect(step.answer).toMatchObject({ reason: 'policy-invalid', detail: expect.stringContaining('could wrap') });
  });

  it.each<Partial<TaskPolicy>>([
    { bufferSize: 1 },
    { bufferSize: 70_000 },
    { minimum: 1 },
    { minimum: 5 },
    { dimension: 0 },
    { name: new Uint8Array(100) },
    { staleness: { kind: 'polynomial', exponent: -1 } },
    { openMs: 2 ** 40 },
  ])('with %o is refused', (change) => {
    const world = nodeFederation({ bufferSize: 4 });
    expect(reasonOf(world.authority.core.createTask({ ...world.policy, ...change }).answer)).toBe('policy-invalid');
  });

  it("starts its log from no buffer: version 0 cannot use up another task's sum", () => {
    const { world, ctx, request } = atClose();
    granted(closed(world, request));
    const policy = { ...world.policy, name: new Uint8Array(1) };
    const { task } = granted(world.authority.persist(world.authority.core.createTask(policy)));
    const body = { task, version: 0, modelHash: new Uint8Array(32), ctx };
    const { signer } = world.server.ports;
    const append = { ...body, signature: signer.sign(modelAppendCodec.statement(body)) };
    expect(reasonOf(world.authority.appendModel(modelAppendCodec.encode(append)))).toBe('buffer-unknown');
  });

  it('gives the same buffer for the same nonce, and none to a stranger', () => {
    const world = nodeFederation({ bufferSize: 4 });
    const body = { task: world.task, nonce: new Uint8Array(16) };
    const fresh = () => ({ bufferId: world.randomBytes(16), sealingKey: new Uint8Array() });
    const { signer } = world.server.ports;
    const draw = (by = signer) => {
      const request = { ...body, signature: by.sign(bufferRequestCodec.statement(body)) };
      return world.authority.persist(world.authority.core.drawBuffer(request, fresh(), world.now));
    };
    expect(draw()).toEqual(draw());
    expect(reasonOf(draw(world.signer()))).toBe('server-unknown');
  });
});
