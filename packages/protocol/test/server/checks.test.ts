/** The refusals of the server change nothing. */
import { concatBytes, FIELD } from '@basa/masking';
import {
  authorityMessages,
  type Certificate,
  certificateCodec,
  type FrozenSession,
  frameHeader,
  issuePaperKey,
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

  it('is refused to a certificate that is forged, of another task, or over', () => {
    expect(reasonOf(seatOf(signedBy(world.signer(), {})))).toBe('certificate-invalid');
    expect(reasonOf(seatOf(signedBy(authority, { task: new Uint8Array(32) as never })))).toBe('certificate-invalid');
    expect(reasonOf(seatOf(signedBy(authority, { notAfter: millis(1) })))).toBe('certificate-expired');
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
