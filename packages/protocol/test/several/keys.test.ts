/** The key of a slot from several authorities: how many answers a device needs, and whose do not count. */
import {
  authorityMessages,
  endorse,
  issuedKeyCodec,
  type KeyAnswer,
  type KeyAnswerOf,
  keyAnswerProblem,
  receiptCodec,
  receiveKey,
  type SlottedSession,
  sealEnvelope,
} from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { granted, reasonOf } from '@basa/simulator';
import { keysFor } from '@basa/testkit/core/endorsed.ts';
import { authorityOf, SLOTS, severalAuthorities, withRecords } from '@basa/testkit/core/several.ts';
import { setsOf } from '@basa/testkit/core/slot-seals.ts';
import { describe, expect, it } from 'vitest';

const { keyAnswer, keyRequest } = authorityMessages(SLOTS);
const ALL = [0, 1, 2, 3];

/** The second device of a buffer waits for its key; every authority of the buffer has answered. */
function atKey(away: readonly number[] = []) {
  const world = severalAuthorities();
  const [first, device] = [world.device(), world.device()];
  for (const index of away) world.away.add(index);
  granted(first.contribute());
  granted(device.contribute('deposit'));
  world.away.clear();
  const answers = ALL.filter((index) => !away.includes(index)).map((authority): KeyAnswerOf => {
    const bytes = granted(authorityOf(world, authority).issueKey(device.keyRequestBytes())) as Uint8Array;
    return { authority, answer: keyAnswer.decode(bytes) };
  });
  const session = device.session as SlottedSession;
  const received = (of: readonly KeyAnswerOf[]) => receiveKey(device.ports, session, of);
  return { world, device, session, answers, received };
}

/** The authority's own answer with another key, signed and sealed by itself. */
function withKey({ world, session }: ReturnType<typeof atKey>, { authority, answer }: KeyAnswerOf, key: Uint8Array) {
  const { requestDigest } = answer.issued;
  const recipient = nodeSuite.x25519(session.ephemeralSecret.reveal()).publicKey;
  const envelope = sealEnvelope(nodeSuite, { senderSecret: nodeRandomBytes(32), recipient, requestDigest, key });
  const body = { requestDigest, keyHash: nodeSuite.sha256(key) };
  const signature = authorityOf(world, authority).ports.signer.sign(issuedKeyCodec.statement(body));
  return { authority, answer: { ...answer, envelope: envelope as Uint8Array, issued: { ...body, signature } } };
}

describe('a device', () => {
  it('continues with the answers of any three of four, and its receipt has their signatures', () => {
    const { answers, received } = atKey();
    for (const set of setsOf(answers, 3)) {
      const draft = granted(received(set));
      expect(draft).toMatchObject({ kind: 'draft', voids: [] });
      expect(draft.receipt.endorsements.map(({ authority }) => authority)).toEqual(
        set.map(({ authority }) => authority),
      );
    }
  });

  it('does not continue with two, or with one of them twice', () => {
    const { answers, received } = atKey();
    const [first, second] = answers as [KeyAnswerOf, KeyAnswerOf];
    expect(received([first, second])).toMatchObject({ reason: 'key-invalid', detail: 'too few authorities answered' });
    expect(received([first, second, second])).toMatchObject({ detail: 'too few authorities answered' });
    expect(reasonOf(received([]))).toBe('key-invalid');
  });

  it('ignores an authority that gives another key, and names it', () => {
    const scene = atKey();
    const { world, device, session, answers, received } = scene;
    const [first, ...others] = answers as [KeyAnswerOf, ...KeyAnswerOf[]];
    const keys = world.sealings.issuer.keysOf(keysFor(world.server.buffer(device.ctx)));
    const lie = withKey(scene, first, keys.edge(2 as never));
    expect(received([lie, ...others])).toMatchObject({ kind: 'draft', voids: [] });
    expect(reasonOf(received([lie, ...others.slice(1)]))).toBe('key-invalid');
    expect(keyAnswerProblem(device.ports, session, lie)).toMatchObject({ reason: 'key-invalid' });
    for (const honest of answers) expect(keyAnswerProblem(device.ports, session, honest)).toBeUndefined();
  });

  it('counts no answer under the index of another authority, nor with more signatures than its own', () => {
    const { answers, received, device, session } = atKey();
    const [first, second, third] = answers as [KeyAnswerOf, KeyAnswerOf, KeyAnswerOf];
    expect(reasonOf(received([first, second, { ...third, authority: 3 }]))).toBe('receipt-invalid');
    const { receipt } = second.answer;
    const endorsements = [...receipt.endorsements, ...third.answer.receipt.endorsements];
    const padded: KeyAnswerOf = { ...second, answer: { ...second.answer, receipt: { ...receipt, endorsements } } };
    expect(reasonOf(keyAnswerProblem(device.ports, session, padded) ?? {})).toBe('receipt-invalid');
    expect(reasonOf(received([first, padded]))).toBe('receipt-invalid');
  });

  it('counts no answer of an authority that has no part in the buffer', () => {
    const scene = atKey([3]);
    const { world, answers, received } = scene;
    const [first, second, third] = answers as [KeyAnswerOf, KeyAnswerOf, KeyAnswerOf];
    expect(received(answers)).toMatchObject({ kind: 'draft' });
    const { endorsements: _, ...receipt } = third.answer.receipt;
    const { signer } = authorityOf(world, 3).ports;
    const answer: KeyAnswer = { ...third.answer, receipt: endorse(receiptCodec, world.policy, signer, receipt) };
    const foreign = withKey(scene, { authority: 3, answer }, nodeRandomBytes(32));
    expect(reasonOf(received([first, second, foreign]))).toBe('receipt-invalid');
  });
});

describe('an authority that does not know a device', () => {
  /** Authority 3 has no record of the device, nor of its slot; the certificate shows the signatures of these. */
  function askedOfForgetful(signers: readonly number[]) {
    const { world, device } = atKey();
    withRecords(world, 3, (record) =>
      record.kind === 'device-enrolled' || record.kind === 'key-issued' ? [] : [record],
    );
    const { certificate, ...request } = keyRequest.decode(device.keyRequestBytes());
    const endorsements = certificate.endorsements.filter(({ authority }) => signers.includes(authority));
    const body = { ...request, certificate: { ...certificate, endorsements } };
    const signed = { ...body, signature: device.signer.sign(keyRequest.statement(body)) };
    return authorityOf(world, 3).core.issueKey(signed, world.now).answer;
  }

  it('gives it a key with the signatures of three others', () => {
    expect(askedOfForgetful([0, 1, 2])).toHaveProperty('envelope');
    expect(askedOfForgetful(ALL)).toHaveProperty('envelope');
  });

  it('gives it no key if its own signature is one of the three, because it has no record of it', () => {
    expect(reasonOf(askedOfForgetful([0, 1, 3]))).toBe('not-enrolled');
  });

  it('takes no certificate with too few signatures', () => {
    expect(reasonOf(askedOfForgetful([0, 1]))).toBe('certificate-invalid');
  });
});
