/** The authority gives the key of a slot to the one who holds it, once; everything else is refused and changes nothing. */
import {
  authorityMessages,
  type CertificateBody,
  certificateCodec,
  endorse,
  type KeyRequest,
  millis,
  type Slot,
  type TaskId,
  ticketCodec,
  viewsOf,
} from '@basa/protocol';
import { type Federation, type FederationDevice, OPEN_MS, reasonOf } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import type { AuthorityBuffer } from '../../src/authority/buffer.ts';
import { issueKey } from '../../src/authority/issue-key.ts';

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
  return endorse(certificateCodec, world.policy, world.authority.ports.signer, body);
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
    expect(world.authority.core.issueKey(request, world.now).events).toEqual([]);
    expect(world.authority.log.length).toBe(records);
  });

  it.each([
    ['closed', { status: 'closed' }],
    ['aborted', { status: 'aborted' }],
    ['voted for', { voted: new Uint8Array(32) }],
    ['in a version', { version: 1 }],
  ] as const)('of a buffer that is %s is not issued', (_, change) => {
    const { world, third, request } = atKey();
    const { core, ports } = world.authority;
    const buffer = core.buffer(request.ticket.ctx) as AuthorityBuffer;
    const issued = (of: AuthorityBuffer) => {
      const { user, certificate } = third;
      const device = { user, certificate, tasks: [world.task], revoked: false };
      const asker = { device, overBudget: undefined };
      return issueKey(ports, of, asker, request, world.now);
    };
    expect(issued(buffer).records).toHaveLength(1);
    expect(reasonOf(issued({ ...buffer, ...change }).answer)).toBe('buffer-not-open');
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
      'with an ephemeral key of small order',
      'key-invalid',
      ({ world, third, request }) => asked(world, third, request, { ephemeralKey: new Uint8Array(32) }),
    ],
    [
      'with a certificate of another task',
      'certificate-invalid',
      ({ world, third, request }) => {
        const certificate = certified(world, { ...request.certificate, task: new Uint8Array(32).fill(3) as never });
        return asked(world, third, request, { certificate });
      },
    ],
    [
      'for a slot that is taken [R1]',
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

  it('that was issued is not sent again once the buffer is given up, or the keys of its epoch are gone', () => {
    const { world, third, request } = atKey();
    const answer = asked(world, third, request);
    expect(answer).toBeInstanceOf(Uint8Array);
    const { issuerFor } = world.authority.ports;
    Object.assign(world.authority.ports, { issuerFor: () => undefined });
    const { events } = world.authority.core.issueKey(request, world.now);
    expect(events).toEqual([{ kind: 'refused', by: 'authority', step: 'key', reason: 'buffer-not-open' }]);
    Object.assign(world.authority.ports, { issuerFor });
    expect(asked(world, third, request)).toEqual(answer);
    world.authority.persist(world.authority.core.start(undefined, new Uint8Array(16).fill(1), world.now));
    expect(reasonOf(asked(world, third, request))).toBe('slot-registered');
  });

  it('is issued up to the last moment of the certificate', () => {
    const { world, third, request } = atKey();
    const certificate = certified(world, { ...request.certificate, notAfter: world.now });
    expect(asked(world, third, request, { certificate })).toBeInstanceOf(Uint8Array);
  });

  it('that is refused accuses the server only of a contradiction', () => {
    const { world, third, request } = atKey();
    const body = { ...request, earlier: [] };
    const signature = third.signer.sign(messages.keyRequest.statement(body));
    const { events } = world.authority.core.issueKey({ ...body, signature }, world.now);
    expect(events).toEqual([{ kind: 'refused', by: 'authority', step: 'key', reason: 'view-mismatch' }]);
  });

  it('of a slot beyond the last is refused', () => {
    const { world, third, request } = atKey();
    const body = { ...request, ticket: signTicket(world, request, { slot: 4 }) };
    const signature = third.signer.sign(messages.keyRequest.statement(body));
    expect(reasonOf(world.authority.core.issueKey({ ...body, signature }, world.now).answer)).toBe('slot-unknown');
  });

  it('for a second slot of one user is refused [R2]', () => {
    const { world, third, request } = atKey();
    asked(world, third, request);
    const next = { joinTag: request.ticket.joinTag, root: request.ticket.root };
    const earlier = [...request.earlier, next];
    const { suite } = world.server.ports;
    const view = viewsOf(suite, request.ticket.ctx, earlier).at(-1);
    const ticket = signTicket(world, request, { slot: 3, view });
    expect(reasonOf(asked(world, third, request, { ticket, earlier }))).toBe('second-slot');
  });

  it('of a user who was shown another history proves that the server signed both', () => {
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
