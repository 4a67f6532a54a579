/** Succession at authorities: one successor for each term, nothing open survives the switch, and a retired seat is silent. */
import { ascii } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityRecord,
  acceptTerm,
  agreedOutcome,
  type Ctx,
  councilBefore,
  currentHash,
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
  SERVER_SEAT,
  type TaskPolicy,
  type Term,
  termHashOf,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { type Federation, type FederationAuthority, granted, reasonOf } from '@basa/simulator';
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
import { describe, expect, it } from 'vitest';

const WAIT_MS = 60_000;
const HEAD = { branch: new Uint8Array(16), sequence: 1, revocations: 0, hash: new Uint8Array(32) };

function federation(): Federation {
  return severalAuthorities({ policy: { succession: { waitMs: WAIT_MS, recoveryHash: undefined } } });
}

/** Seat 0 is lost, and a new key takes it. */
function proposal(world: Federation, change: Partial<Term> = {}, key = world.signer()): Term {
  const body = {
    task: world.task,
    number: 1,
    previous: currentHash(suite, world.policy),
    seat: 0,
    key: key.publicKey,
    address: 'https://new.example',
    last: undefined,
    effective: millis(world.now + WAIT_MS),
    ...change,
  };
  return { ...body, accepted: acceptTerm(suite, key, body), recovery: undefined, endorsements: [] };
}

function signed(world: Federation, term: Term): Term {
  return world.authorities.slice(1).reduce((so, one) => granted(one.persist(one.core.signTerm(so, world.now))), term);
}

/** All but the lost one have begun the term. */
function switched(world: Federation, term: Term): TaskPolicy {
  const line = { policy: world.policy, terms: [term] };
  for (const one of world.authorities.slice(1)) {
    granted(one.persist(one.core.followLine(line, world.now)));
    granted(one.persist(one.core.tick(term.effective)));
  }
  return inTerm(suite, world.policy, term);
}

/** A version that enough authorities signed in the first term, and none of them was shown. */
function unheard(world: Federation, version = 1): ModelEntry {
  const old = second(world).core.newestModel(world.task) as ModelEntry;
  const body = { ...old, version, sums: [new Uint8Array(32) as Ctx], endorsements: [] };
  const parts = world.authorities.map(({ ports }) => endorse(modelEntryCodec, world.policy, ports.signer, body));
  return { ...body, endorsements: joined(parts.flatMap(({ endorsements }) => endorsements)) };
}

const second = (world: Federation): FederationAuthority => world.authorities[1] as FederationAuthority;

describe('an authority', () => {
  it('signs one successor for a term, also after a restart', () => {
    const world = federation();
    const authority = second(world);
    const term = proposal(world);
    const once = granted(authority.persist(authority.core.signTerm(term, world.now)));
    expect(once.endorsements.map((one) => one.authority)).toEqual([1]);
    expect(granted(authority.core.signTerm(term, world.now).answer)).toEqual(once);
    const other = proposal(world);
    expect(reasonOf(authority.core.signTerm(other, world.now).answer)).toBe('term-signed');
    const restored = AttributeAuthority.restore(authority.ports, authority.records);
    expect(reasonOf(restored.signTerm(other, world.now).answer)).toBe('term-signed');
    expect(granted(restored.signTerm(term, world.now).answer)).toEqual(once);
    // Later, when the wait is too short for a new one, it is still the same.
    const later = restored.signTerm(term, millis(world.now + 1));
    expect([granted(later.answer), later.records]).toEqual([once, []]);
  });
  it('signs no successor in place of one that it adopted, which is adopted once', () => {
    const world = federation();
    const { policy } = world;
    const signers = world.authorities.slice(0, 3).map(({ ports }) => ports.signer);
    const term = signers.reduce((so, one) => endorseTerm(policy, one, so), proposal(world, { last: HEAD }));
    const away = world.authorities[3] as FederationAuthority;
    const line = { policy, terms: [term] };
    granted(away.persist(away.core.followLine(line, world.now)));
    expect(reasonOf(away.core.signTerm(proposal(world), world.now).answer)).toBe('term-signed');
    const again = away.core.followLine(line, world.now);
    expect([granted(again.answer).task, again.records]).toEqual([world.task, []]);
    // It shows the term to others before it begins.
    expect(away.core.line(world.task)).toEqual(line);
    expect(away.core.line(new Uint8Array(32) as typeof world.task)).toBeUndefined();
  });
  it('signs no term that does not follow the current one, and begins none that it did not adopt', () => {
    const world = federation();
    const { core, ports, records } = second(world);
    expect(reasonOf(core.signTerm(proposal(world, { number: 2 }), world.now).answer)).toBe('term-invalid');
    const damaged = [...records, { kind: 'term-begun', task: world.task, number: 1 } as const];
    const restored = AttributeAuthority.restore(ports, damaged);
    expect(restored.line(world.task)).toEqual({ policy: world.policy, terms: [] });
  });
  it('records the successor before it signs', () => {
    const world = federation();
    const term = proposal(world);
    expect(second(world).core.signTerm(term, world.now).records).toEqual([
      { kind: 'term-signed', task: world.task, number: 1, hash: termHashOf(suite, term) },
    ]);
  });
  it('signs no term that takes effect before the wait is over, and no term that declares it lost', () => {
    const world = federation();
    const soon = proposal(world, { effective: millis(world.now + WAIT_MS - 1) });
    // The wait since the term before has passed long ago: only the clock of the authority can tell.
    expect(reasonOf(second(world).core.signTerm(soon, world.now).answer)).toBe('term-soon');
    const [live] = world.authorities as [FederationAuthority];
    expect(live.core.signTerm(proposal(world), world.now).answer).toMatchObject({
      reason: 'term-invalid',
      detail: expect.stringContaining('not lost'),
    });
    const handed = granted(live.core.signTerm(proposal(world, { last: HEAD }), world.now).answer);
    expect(handed.endorsements.map((one) => one.authority)).toEqual([0]);
  });
  it('that holds no seat signs nothing', () => {
    const world = federation();
    const term = signed(world, proposal(world));
    switched(world, term);
    const late = world.authorities[0] as FederationAuthority;
    granted(late.persist(late.core.followLine({ policy: world.policy, terms: [term] }, world.now)));
    granted(late.persist(late.core.tick(term.effective)));
    expect(late.core.showNewestModel(world.task, new Uint8Array(16))).toBeUndefined();
    const entry = late.core.newestModel(world.task) as ModelEntry;
    expect(reasonOf(late.core.adoptModel(entry).answer)).toBe('no-seat');
    expect(reasonOf(late.core.signTerm(proposal(world), world.now).answer)).toBe('no-seat');
  });
  it('adopts no second term with the same number, and no term with too few signatures', () => {
    const world = federation();
    const { policy } = world;
    const few = granted(second(world).core.signTerm(proposal(world), world.now).answer);
    expect(reasonOf(second(world).core.followLine({ policy, terms: [few] }, world.now).answer)).toBe('term-unsigned');
    const term = signed(world, proposal(world));
    const authority = second(world);
    granted(authority.persist(authority.core.followLine({ policy, terms: [term] }, world.now)));
    const signers = world.authorities.slice(1).map(({ ports }) => ports.signer);
    const forged = signers.reduce((so, one) => endorseTerm(policy, one, so), proposal(world));
    expect(reasonOf(authority.core.followLine({ policy, terms: [forged] }, world.now).answer)).toBe('term-signed');
  });
});

describe('a successor', () => {
  it('joins only a task in which it accepted a seat, so nobody can create one by naming its key', () => {
    const world = federation();
    const key = world.signer();
    const ports = { suite, signer: key, issuerFor: () => undefined };
    const named = { ...world.policy, authorities: [key.publicKey, ...world.policy.authorities.slice(1)] };
    const fresh = new AttributeAuthority(ports);
    expect(reasonOf(fresh.followLine({ policy: named, terms: [] }, world.now).answer)).toBe('no-seat');
    const other = signed(world, proposal(world));
    expect(reasonOf(fresh.followLine({ policy: world.policy, terms: [other] }, world.now).answer)).toBe('no-seat');
    const again = federation();
    const unaccepted = { ...signed(again, proposal(again, {}, key)), accepted: new Uint8Array(64) };
    const line = { policy: again.policy, terms: [unaccepted] };
    expect(reasonOf(fresh.followLine(line, world.now).answer)).toBe('term-invalid');
  });
  it('joins no task with an invalid policy, and begins a term whose time has come at once', () => {
    const world = federation();
    const key = world.signer();
    const fresh = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    const term = signed(world, proposal(world, {}, key));
    const line = { policy: world.policy, terms: [term] };
    const invalid = { ...line, policy: { ...world.policy, minimum: 1 } };
    expect(reasonOf(fresh.followLine(invalid, world.now).answer)).toBe('policy-invalid');
    const kindsAt = (now: number) => fresh.followLine(line, millis(now)).records.map(({ kind }) => kind);
    expect(kindsAt(term.effective - 1)).toEqual(['task-created', 'term-adopted']);
    expect(kindsAt(term.effective)).toEqual(['task-created', 'term-adopted', 'term-begun']);
  });
  it('whose clock is behind begins one term after the other, also if it is shown two that are still to come', () => {
    const world = federation();
    const key = world.signer();
    const first = signed(world, proposal(world, {}, key));
    const policy = inTerm(suite, world.policy, first);
    const signers = world.authorities.slice(1).map(({ ports }) => ports.signer);
    const second = signedTerm(policy, {
      isLost: true,
      seat: 1,
      key: world.signer(),
      signers: [key, ...signers.slice(1)],
    });
    const line = { policy: world.policy, terms: [first, second] };
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    for (const { effective } of line.terms) {
      successor.apply(successor.followLine(line, world.now).records);
      successor.apply(successor.tick(effective).records);
    }
    expect(successor.line(world.task)?.terms).toEqual([first, second]);
    expect(successor.tick(millis(second.effective + WAIT_MS)).records).toEqual([]);
  });
});

describe('a new key of the server', () => {
  const SERVERS = { seat: SERVER_SEAT, address: '' };

  it('is the only server key that authorities accept from its effective time on', () => {
    const world = federation();
    const { signer: old } = world.server.ports;
    const next = world.signer();
    const body = { task: world.task, version: 1, modelHash: new Uint8Array(32).fill(1), spoilt: [], closed: [] };
    const append = { ...body, sums: [new Uint8Array(32) as Ctx] };
    const answers = () =>
      [old, next].map((by) => {
        const signature = by.sign(modelAppendCodec.statement(append));
        return reasonOf(second(world).core.appendModel({ ...append, signature }).answer);
      });
    expect(answers()).toEqual(['buffer-unknown', 'server-unknown']);
    const device = world.device();
    device.contribute('deposit');
    switched(world, signed(world, proposal(world, SERVERS, next)));
    expect(answers()).toEqual(['server-unknown', 'buffer-unknown']);
    // Tickets of the old key open nothing more.
    expect(second(world).core.buffer(device.ctx)?.status).toBe('unknown');
  });
  it('is never the key of an authority', () => {
    const world = federation();
    const key = world.signer();
    const fresh = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    expect(reasonOf(fresh.signTerm(proposal(world, SERVERS, key), world.now).answer)).toBe('term-invalid');
    expect(granted(fresh.signTerm(proposal(world, {}, key), world.now).answer).key).toEqual(key.publicKey);
  });
});

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
  it('keeps the newest model: t seats sign its words again, and a successor without a log begins with it', () => {
    const world = federation();
    const key = world.signer();
    const term = signed(world, proposal(world, {}, key));
    const policy = switched(world, term);
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    const join = successor.followLine({ policy: world.policy, terms: [term] }, world.now);
    granted(join.answer);
    successor.apply(join.records);
    const entry = second(world).core.newestModel(world.task) as ModelEntry;
    expect(reasonOf(successor.renewModel(entry).answer)).toBe('no-seat');
    successor.apply(successor.tick(term.effective).records);
    const [one, two] = world.authorities.slice(1) as [FederationAuthority, FederationAuthority];
    const parts = [successor.renewModel(entry), one.core.renewModel(entry), two.core.renewModel(entry)].map(
      (step) => granted(step.answer).endorsements,
    );
    const renewed = { ...entry, endorsements: joined(parts.flat()) };
    expect(isEndorsed(suite, modelEntryCodec, policy, renewed)).toBe(true);
    expect(isEndorsed(suite, modelEntryCodec, policy, entry)).toBe(false);
    const adopted = successor.adoptModel(renewed);
    expect(adopted.records).toMatchObject([{ kind: 'model-appended' }]);
    const changed = { ...entry, modelHash: new Uint8Array(32).fill(9) };
    expect(reasonOf(one.core.renewModel(changed).answer)).toBe('model-not-logged');
    const before = councilBefore(policy) as TaskPolicy;
    const forged = world.authorities.map(
      ({ ports }) => endorse(modelEntryCodec, before, ports.signer, changed).endorsements,
    );
    expect(reasonOf(one.core.renewModel({ ...changed, endorsements: joined(forged.flat()) }).answer)).toBe(
      'other-model',
    );
  });
  it('lets the successor of a single authority log the newest model by itself, once', () => {
    const recovery = severalAuthorities().signer();
    const succession = { waitMs: WAIT_MS, recoveryHash: suite.sha256(recovery.publicKey) };
    const council = { authorities: 1, threshold: 1 };
    const world = severalAuthorities({ council, sealings: slotKeySealings(1), policy: { succession } });
    const key = world.signer();
    const term = signedTerm(world.policy, { isLost: true, key, signers: [], recovery });
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    successor.apply(successor.followLine({ policy: world.policy, terms: [term] }, world.now).records);
    const entry = world.authority.core.newestModel(world.task) as ModelEntry;
    expect(reasonOf(world.authority.core.renewModel(entry).answer)).toBe('model-not-logged');
    const renewed = successor.renewModel(entry);
    expect(renewed.records).toEqual([{ kind: 'model-appended', entry: granted(renewed.answer) }]);
    successor.apply(renewed.records);
    const again = successor.renewModel(entry);
    expect([granted(again.answer), again.records]).toEqual([granted(renewed.answer), []]);
  });
  it('signs no version again that is older than the newest one', () => {
    const world = federation();
    const authority = second(world);
    const old = authority.core.newestModel(world.task) as ModelEntry;
    const entry = unheard(world);
    granted(authority.persist(authority.core.adoptModel(entry)));
    switched(world, signed(world, proposal(world)));
    expect(reasonOf(authority.core.renewModel(old).answer)).toBe('wrong-version');
    expect(granted(authority.core.renewModel(entry).answer).version).toBe(1);
  });
  it('gives no second signature for a version that was signed again, in any order', () => {
    const world = federation();
    const [one, two] = world.authorities.slice(1) as [FederationAuthority, FederationAuthority];
    const entry = unheard(world);
    switched(world, signed(world, proposal(world)));
    const again = one.core.renewModel(entry);
    expect(again.records).toEqual([{ kind: 'model-signed', entry: granted(again.answer) }]);
    granted(one.persist(again));
    expect(granted(one.core.renewModel(entry).answer)).toEqual(again.answer);
    const other = { ...granted(again.answer), modelHash: new Uint8Array(32).fill(9) };
    const append = { ...other, closed: [] };
    const signature = world.server.ports.signer.sign(modelAppendCodec.statement(append));
    expect(reasonOf(one.core.appendModel({ ...append, signature }).answer)).toBe('other-model');
    two.persist({ records: [{ kind: 'model-signed', entry: other }], answer: other, events: [] });
    expect(reasonOf(two.core.renewModel(entry).answer)).toBe('other-model');
    // A later version was signed again here: this one is not signed any more, by any request.
    const later = unheard(world, 2);
    granted(two.persist(two.core.renewModel(later)));
    expect(reasonOf(two.core.renewModel(entry).answer)).toBe('wrong-version');
    const late = { ...append, version: 1 };
    const lateSignature = world.server.ports.signer.sign(modelAppendCodec.statement(late));
    expect(reasonOf(two.core.appendModel({ ...late, signature: lateSignature }).answer)).toBe('wrong-version');
  });
  it('is over with the first entry of the new term: keys of the term before add no version to it', () => {
    const world = federation();
    const authority = second(world);
    const entry = unheard(world);
    const first = authority.core.newestModel(world.task) as ModelEntry;
    switched(world, signed(world, proposal(world)));
    const parts = world.authorities.slice(1).map(({ core }) => granted(core.renewModel(first).answer).endorsements);
    granted(authority.persist(authority.core.adoptModel({ ...first, endorsements: joined(parts.flat()) })));
    expect(reasonOf(authority.core.renewModel(entry).answer)).toBe('wrong-version');
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
    expect(successor.isHandedOver(certificate, owner, world.now)).toBe(true);
    expect(successor.isHandedOver(certificate, key.publicKey, world.now)).toBe(false);
    expect(successor.isHandedOver(certificate, owner, millis(certificate.notAfter + 1))).toBe(false);
    const [only] = certificate.endorsements;
    expect(only && successor.isHandedOver({ ...certificate, endorsements: [only] }, owner, world.now)).toBe(false);
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
