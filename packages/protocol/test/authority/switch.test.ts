/** Succession at authorities when a term begins: nothing open survives the switch, and a retired seat is silent. */
import { ascii } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityRecord,
  agreedOutcome,
  type Certificate,
  certificateCodec,
  endorse,
  endorseTerm,
  inTerm,
  isEndorsed,
  isSignedBySeat,
  joined,
  type ModelEntry,
  millis,
  modelAppendCodec,
  modelEntryCodec,
  type NewestModel,
  newestModelCodec,
  newestProblem,
  receiveNewest,
  revocationRequestCodec,
  termHashOf,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { type FederationAuthority, granted, reasonOf } from '@basa/simulator';
import {
  appendedBy,
  atSeveralCloses,
  authorityOf,
  closedBy,
  severalAuthorities,
  together,
  votesOf,
} from '@basa/testkit/core/several.ts';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
import { describe, expect, it, vi } from 'vitest';
import { federation, proposal, second, signed, switched, WAIT_MS } from './succession-scene.ts';

describe('the switch', () => {
  it('gives up open buffers: no key and no close follow, and the outcome is unknown', () => {
    const world = federation();
    const device = world.device();
    device.contribute('deposit');
    const term = signed(world, proposal(world));
    expect(second(world).core.isOpen(device.ctx)).toBe(true);
    switched(world, term);
    for (const one of world.authorities.slice(1)) {
      expect(one.core.buffer(device.ctx)?.status).toBe('unknown');
      expect(granted(one.core.outcome(device.ctx, world.now).answer).status).toBe('unknown');
      expect(reasonOf(one.issueKey(device.keyRequestBytes()))).toBe('buffer-not-open');
    }
    expect(second(world).core.openBuffers).toBe(0);
  });
  it('leaves the buffers of other tasks open', () => {
    const world = federation();
    const other = severalAuthorities({ policy: { name: ascii('another') } });
    const device = other.device();
    device.contribute('deposit');
    const { ports, records } = second(world);
    // The same seed gives both worlds the same authorities.
    const both = AttributeAuthority.restore(ports, [...records, ...second(other).records]);
    const line = { policy: world.policy, terms: [signed(world, proposal(world))] };
    both.apply(both.followLine(line, world.now).records);
    both.apply(both.tick(millis(world.now + WAIT_MS)).records);
    expect(both.line(world.task)?.terms).toHaveLength(1);
    expect(both.buffer(device.ctx)?.status).not.toBe('unknown');
  });
  it('ends every close of the term before: no authority votes again, releases keys or logs a sum that made no version', () => {
    const { world, ctx, request } = atSeveralCloses(federation());
    const votes = votesOf(world, [1, 2, 3], request);
    for (const index of [1, 2, 3])
      expect(granted(closedBy(world, index, request, { votes })).outcome.status).toBe('closed');
    const key = world.signer();
    const term = signed(world, proposal(world, {}, key));
    const policy = switched(world, term);
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    successor.apply(successor.followLine({ policy: world.policy, terms: [term] }, world.now).records);
    successor.apply(successor.tick(term.effective).records);
    for (const index of [1, 2, 3]) {
      const { core } = authorityOf(world, index);
      expect(reasonOf(closedBy(world, index, request, { votes }))).toBe('buffer-over');
      expect(granted(core.outcome(ctx, world.now).answer)).toMatchObject({ status: 'unknown', accepted: [] });
    }
    expect(reasonOf(successor.close({ ...request, votes }, world.now).answer)).toBe('buffer-unknown');
    const told = [successor, ...[1, 2, 3].map((index) => authorityOf(world, index).core)].map((core, authority) => ({
      authority,
      outcome: granted(core.outcome(ctx, world.now).answer),
    }));
    expect(agreedOutcome(suite, policy, ctx, told)?.status).toBe('unknown');
    const modelHash = new Uint8Array(32).fill(1);
    const append = { task: world.task, version: 1, modelHash, sums: [ctx], spoilt: [], closed: [] };
    const signature = world.server.ports.signer.sign(modelAppendCodec.statement(append));
    for (const { core } of world.authorities.slice(1))
      expect(reasonOf(core.appendModel({ ...append, signature }).answer)).toBe('buffer-not-closed');
  });
  it('keeps a close that made a version', () => {
    const { world, ctx, request } = atSeveralCloses(federation());
    const votes = votesOf(world, [1, 2, 3], request);
    const body = { version: 1, modelHash: new Uint8Array(32).fill(1), sums: [ctx], spoilt: [], closed: [] };
    const parts = [1, 2, 3].map((index) => {
      granted(closedBy(world, index, request, { votes }));
      return granted(appendedBy(world, index, body));
    });
    const authority = second(world);
    granted(authority.persist(authority.core.adoptModel(together(parts))));
    switched(world, signed(world, proposal(world)));
    expect(granted(authority.core.outcome(ctx, world.now).answer).status).toBe('closed');
  });
  it('is noticed by a device from which it is hidden, because it gets no fresh statement of its term', () => {
    const world = federation();
    const device = world.device();
    const nonce = new Uint8Array(16).fill(3);
    const question = { suite, council: world.policy, task: world.task, nonce, isPast: () => false };
    const told = () =>
      world.authorities.slice(1).map(({ core }, n) => ({
        authority: n + 1,
        answer: core.showNewestModel(world.task, nonce) as NewestModel,
      }));
    expect(granted(receiveNewest(question, device, told()).answer).version).toBe(0);
    const policy = switched(world, signed(world, proposal(world)));
    expect(reasonOf(receiveNewest(question, device, told()).answer)).toBe('model-not-logged');
    // In the new term they count once the entry was signed again.
    const inTerm = { ...question, council: { ...policy, threshold: 1 } };
    expect(told().map((one) => newestProblem(inTerm, one)?.reason)).toEqual(Array(3).fill('model-not-logged'));
  });
  it('comes at its time, and not before', () => {
    const world = federation();
    const term = signed(world, proposal(world));
    const authority = second(world);
    granted(authority.persist(authority.core.followLine({ policy: world.policy, terms: [term] }, world.now)));
    expect(authority.core.tick(millis(term.effective - 1)).records).toEqual([]);
    expect(authority.core.tick(term.effective).records.at(-1)).toEqual({
      kind: 'term-begun',
      task: world.task,
      number: 1,
    });
  });
  it('of a successor takes one term after the other, also if it is shown two that wait for their time', () => {
    const world = federation();
    const [own, next] = [world.signer(), world.signer()];
    const term = signed(world, proposal(world, {}, own));
    const then = inTerm(suite, world.policy, term);
    const effective = millis(term.effective + WAIT_MS);
    const body = proposal(world, { number: 2, previous: termHashOf(suite, term), seat: 1, effective }, next);
    const signers = world.authorities.slice(2).map(({ ports }) => ports.signer);
    const after = [own, ...signers].reduce((so, one) => endorseTerm(then, one, so), body);
    const successor = new AttributeAuthority({ suite, signer: own, issuerFor: () => undefined });
    const line = { policy: world.policy, terms: [term, after] };
    const take = () => successor.apply(successor.followLine(line, world.now).records);
    take();
    successor.apply(successor.tick(term.effective).records);
    take();
    successor.apply(successor.tick(effective).records);
    expect(successor.line(world.task)?.terms.map(({ number }) => number)).toEqual([1, 2]);
    expect(successor.tick(effective).records).toEqual([]);
  });
  it('a successor knows its devices by the certificates of the term before', () => {
    const world = federation();
    const key = world.signer();
    const device = world.device();
    const { certificate } = device;
    const term = signed(world, proposal(world, {}, key));
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    const join = successor.followLine({ policy: world.policy, terms: [term] }, world.now);
    successor.apply(join.records);
    successor.apply(successor.tick(term.effective).records);
    const owner = certificate.deviceKey;
    const isKnown = (of: Certificate, deviceKey = owner, at: number = world.now) =>
      successor.isHandedOver(of, deviceKey, { now: millis(at), certificateMs: Number.POSITIVE_INFINITY });
    expect(isKnown(certificate)).toBe(true);
    const verify = vi.spyOn(suite, 'verify');
    expect(isKnown(certificate, key.publicKey)).toBe(false);
    expect(verify).not.toHaveBeenCalled(); // anybody may show the certificate of another device
    verify.mockRestore();
    expect(isKnown(certificate, owner, certificate.notAfter + 1)).toBe(false);
    const [only] = certificate.endorsements;
    expect(only && isKnown({ ...certificate, endorsements: [only] })).toBe(false);
  });
  it('a stolen key that was replaced enrols no device once the certificates of its term have ended', () => {
    const recovery = severalAuthorities().signer();
    const succession = { waitMs: WAIT_MS, recoveryHash: suite.sha256(recovery.publicKey) };
    const council = { authorities: 1, threshold: 1 };
    const world = severalAuthorities({ council, sealings: slotKeySealings(1), policy: { succession } });
    const key = world.signer();
    const term = signedTerm(world.policy, { isLost: true, key, signers: [], recovery });
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    const line = { policy: world.policy, terms: [term] };
    successor.apply(successor.followLine(line, term.effective).records);
    const { publicKey: deviceKey } = world.signer();
    const certificateMs = 1000;
    const body = { task: world.task, deviceKey, issuedAt: millis(0), notAfter: millis(term.effective + 1e9) };
    const stolen = endorse(certificateCodec, world.policy, world.authority.ports.signer, body);
    const isKnown = (of: Certificate, at: number) =>
      successor.isHandedOver(of, deviceKey, { now: millis(at), certificateMs });
    expect(isKnown(stolen, term.effective + certificateMs)).toBe(true);
    expect(isKnown(stolen, term.effective + certificateMs + 1)).toBe(false);
  });
  it('a successor that was away knows the devices that enough others have certified since', () => {
    const world = federation();
    const key = world.signer();
    const term = signed(world, proposal(world, {}, key));
    const later = switched(world, term);
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    successor.apply(successor.followLine({ policy: world.policy, terms: [term] }, term.effective).records);
    const { publicKey: deviceKey } = world.signer();
    const body = { task: world.task, deviceKey, issuedAt: millis(0), notAfter: millis(term.effective + 1e9) };
    const parts = world.authorities.slice(1).map(({ ports }) => endorse(certificateCodec, later, ports.signer, body));
    const certificate = { ...body, endorsements: joined(parts.flatMap(({ endorsements }) => endorsements)) };
    const now = millis(term.effective + 1e8);
    expect(successor.isHandedOver(certificate, deviceKey, { now, certificateMs: 1000 })).toBe(true);
  });
  it('a successor can revoke a device before it comes, which its predecessor had revoked', () => {
    const world = federation();
    const key = world.signer();
    const { certificate, user } = world.device();
    const term = signed(world, proposal(world, {}, key));
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    const take = (step: { readonly records: Iterable<AuthorityRecord> }) => successor.apply(step.records);
    expect(reasonOf(successor.revoke(user, world.now).answer)).toBe('not-enrolled');
    take(successor.followLine({ policy: world.policy, terms: [term] }, world.now));
    take(successor.revoke(user, world.now));
    expect(successor.revoke(user, world.now).records).toEqual([]);
    expect(successor.head().revocations).toBe(1);
    take(successor.tick(term.effective));
    const { endorsements: _, ...body } = certificate;
    expect(reasonOf(successor.enrol(body).answer)).toBe('revoked');
    const asked = { task: world.task, after: 0 };
    const signature = world.server.ports.signer.sign(revocationRequestCodec.statement(asked));
    expect(granted(successor.revocations({ ...asked, signature }).answer).users).toEqual([user]);
  });
  it('two terms never both have enough signatures for one thing', () => {
    const world = federation();
    const term = signed(world, proposal(world));
    const policy = switched(world, term);
    // The seat that was called lost lives, and signs in the first term as before: it is alone there.
    const [live] = world.authorities as [FederationAuthority];
    const entry = live.core.newestModel(world.task) as ModelEntry;
    const told = live.core.showNewestModel(world.task, new Uint8Array(16)) as NewestModel;
    expect(isSignedBySeat(suite, newestModelCodec, world.policy, 0, told)).toBe(true);
    expect(isSignedBySeat(suite, newestModelCodec, policy, 0, told)).toBe(false);
    const words = world.authorities.slice(1).map((one) => granted(one.core.renewModel(entry).answer));
    expect(words.every((one) => !isEndorsed(suite, modelEntryCodec, { ...world.policy, threshold: 1 }, one))).toBe(
      true,
    );
    expect(words.every((one) => isEndorsed(suite, modelEntryCodec, { ...policy, threshold: 1 }, one))).toBe(true);
  });
});
