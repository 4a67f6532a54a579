/** What the server refuses, and that a refusal changes nothing. */
import { concatBytes, FIELD } from '@basa/masking';
import {
  authorityMessages,
  type Certificate,
  type CloseAnswer,
  certificateCodec,
  closeSteps,
  type FrozenSession,
  fateOf,
  frameHeader,
  issuePaperKey,
  type JoinTag,
  millis,
  paperTicketCodec,
} from '@basa/protocol';
import { granted, reasonOf, transparentPaperSealings } from '@basa/simulator';
import { endorsedBy } from '@basa/testkit/core/endorsed.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

describe('a seat', () => {
  const world = nodeFederation({ bufferSize: 3 });
  const device = world.device();
  const signedBy = (signer: { sign(message: Uint8Array): Uint8Array }, change: Partial<Certificate>): Certificate => {
    const body = { ...device.certificate, ...change };
    return endorsedBy(certificateCodec, signer, body);
  };
  const authority = world.authority.ports.signer;
  const seatOf = (certificate: Certificate) => world.server.seat({ ...device.seatRequest(), certificate });

  it('is given to an enrolled device, which then holds it until it lapses', () => {
    const { descriptor } = granted(world.server.seat(device.seatRequest()));
    expect(descriptor.bufferSize).toBe(3);
    const [buffer] = world.server.buffers.values();
    const ctx = buffer?.ctx as Uint8Array;
    expect(world.server.holdsSeat(device.certificate, ctx)).toBe(true);
    expect(world.server.holdsSeat(device.certificate, ctx, millis(world.now + 500))).toBe(false);
  });

  it('is refused to a certificate that is forged, of another task, or over', () => {
    expect(reasonOf(seatOf(signedBy(world.signer(), {})))).toBe('certificate-invalid');
    expect(reasonOf(seatOf(signedBy(authority, { task: new Uint8Array(32) as never })))).toBe('certificate-invalid');
    expect(reasonOf(seatOf(signedBy(authority, { notAfter: millis(1) })))).toBe('certificate-expired');
  });

  it('in a buffer that expires before it is used is given in the next one', () => {
    const fresh = nodeFederation({ bufferSize: 3 });
    const late = fresh.device();
    const { descriptor: first } = granted(fresh.server.seat(late.seatRequest()));
    fresh.now = millis(first.expiry - 100);
    fresh.server.seat(late.seatRequest());
    fresh.now = millis(first.expiry + 10);
    const { descriptor: second } = granted(fresh.server.seat(late.seatRequest()));
    expect(second.parts).not.toEqual(first.parts);
    expect(fresh.server.buffers.size).toBe(2);
  });
});

describe('an upload', () => {
  /** A device that signs a header over a body of its own making. */
  function uploadOf(body: (honest: Uint8Array) => Uint8Array) {
    const world = nodeFederation({ bufferSize: 2, dimension: 4, modulus: FIELD });
    const device = world.device();
    device.contribute('key');
    device.receiveKeyAndFreeze('upload');
    const session = device.session as FrozenSession;
    const { suite } = world.server.ports;
    const honest = device.uploadBytes().slice(-(36 + 134));
    const header = { ...session.header, bodyHash: suite.sha256(body(honest)) };
    const { uploadHeader } = authorityMessages(2);
    const signature = device.signer.sign(uploadHeader.statement(header));
    const bytes = concatBytes(frameHeader(uploadHeader.encode({ ...header, signature })), body(honest));
    return { world, device, answer: world.server.upload(bytes) };
  }

  it('of the right bytes is accepted', () => {
    expect(uploadOf((honest) => honest).answer).toEqual({ kind: 'accepted' });
  });

  it.each([
    ['too short', (honest: Uint8Array) => honest.slice(0, 3)],
    ['too long', (honest: Uint8Array) => concatBytes(honest, Uint8Array.of(0))],
    ['outside the field', (honest: Uint8Array) => honest.map((byte, n) => (n < 4 ? 0xff : byte))],
  ])('%s is refused even where its signed hash is right, and nothing is kept', (_, body) => {
    const { world, device, answer } = uploadOf(body);
    expect(reasonOf(answer)).toBe('body-mismatch');
    expect(world.server.bodies.size).toBe(0);
    expect(world.server.buffer(device.ctx).slots[0]?.status).toBe('assigned');
  });

  it('sent again under another signature of the same words gets the same answer', () => {
    const world = nodeFederation({ bufferSize: 2, dimension: 4 });
    const device = world.device();
    device.contribute('key');
    device.receiveKeyAndFreeze('upload');
    granted(world.server.upload(device.uploadBytes()));
    const { suite } = world.server.ports;
    // A stand-in for keys that sign differently each time: any signature is good here.
    Object.assign(world.server.ports, { suite: { ...suite, verify: () => true } });
    const { header } = device.session as FrozenSession;
    const { uploadHeader } = authorityMessages(2);
    const other = uploadHeader.encode({ ...header, signature: new Uint8Array(64).fill(9) });
    expect(world.server.upload(concatBytes(frameHeader(other), device.uploadBytes().slice(-(36 + 134))))).toEqual({
      kind: 'accepted',
    });
  });

  it('leaves nothing of its bytes in the state', () => {
    const world = nodeFederation({ bufferSize: 2, dimension: 10_000 });
    const device = world.device();
    granted(device.contribute());
    const header = world.server.buffer(device.ctx).slots[0]?.header;
    expect(header?.bodyHash.buffer.byteLength).toBe(32);
    expect(header?.signature.buffer.byteLength).toBe(64);
  });
});

describe('the answer to a close', () => {
  it.each<[string, (answer: CloseAnswer, sign: (body: CloseAnswer) => CloseAnswer) => CloseAnswer]>([
    [
      'a key changed on the way',
      (answer) => ({ ...answer, keys: answer.keys.map((one) => ({ ...one, key: one.key.map((byte) => byte ^ 1) })) }),
    ],
    [
      'an outcome that the authority did not sign',
      (answer, sign) => sign({ ...answer, outcome: { ...answer.outcome, signature: new Uint8Array(64) } }),
    ],
  ])('with %s is refused', (_, change) => {
    const world = nodeFederation({ bufferSize: 2, dimension: 4 });
    const devices = [world.device(), world.device()];
    const ctx = world.fill(devices);
    granted(world.server.freeze(ctx));
    const { ports } = world.server;
    const { signer } = world.authority.ports;
    const { closeAnswer } = authorityMessages(2);
    const sign = (body: CloseAnswer): CloseAnswer => ({
      ...body,
      signature: signer.sign(closeAnswer.statement(body)),
    });
    const closing = world.authority.close;
    let caught: string | undefined;
    world.authority.close = (request) => {
      const answer = granted(closing.call(world.authority, request));
      const steps = closeSteps(ports, world.server.buffer(ctx));
      steps.next();
      caught = reasonOf(steps.next([{ authority: 0, answer: change(answer, sign) }]).value);
      return answer;
    };
    expect(world.server.finish(ctx).kind).toBe('good');
    expect(caught).toBe('too-few-votes');
  });
});

describe('a paper ticket', () => {
  it('for a sealed buffer gets no key that opens anything there', () => {
    const world = nodeFederation({ bufferSize: 2, dimension: 4 });
    const [first, second] = [world.device(), world.device()];
    first.contribute('deposit');
    second.contribute('deposit');
    const { signer, suite } = world.server.ports;
    const body = { ctx: first.ctx, slot: 1 as never, user: second.user };
    const ticket = { ...body, signature: signer.sign(paperTicketCodec.statement(body)) };
    const { issuer, sealing } = transparentPaperSealings(suite);
    const { key } = granted(issuePaperKey({ suite, issuer, serverKey: signer.publicKey }, second.user, ticket));
    const sealed = world.server.deposits(first.ctx)[0]?.entries[0]?.sealed ?? new Uint8Array();
    expect(sealed).toHaveLength(134);
    // Transparent: seed, attribute, context. The context is right, the attribute is not.
    expect(sealing.open(sealed, key, sealed.slice(64))).toBeUndefined();
  });
});

describe('the fate of an update', () => {
  it('is pending until the buffer is decided, then what the authority says', () => {
    const world = nodeFederation({ bufferSize: 3, dimension: 6 });
    const [first, second, left] = [world.device(), world.device(), world.device()];
    for (const device of [first, second]) granted(device.contribute());
    left.contribute('key');
    const fate = (device: typeof first) =>
      fateOf(world.server.buffer(first.ctx), device.session?.member.joinTag as JoinTag);
    expect([fate(first), fate(left)]).toEqual(['pending', 'pending']);
    world.server.finish(first.ctx, 'stalled');
    expect([fate(first), fate(left)]).toEqual(['included', 'excluded']);
    expect(fateOf(world.server.buffer(first.ctx), new Uint8Array(32) as JoinTag)).toBeUndefined();
  });
});
