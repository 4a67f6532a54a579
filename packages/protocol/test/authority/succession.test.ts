/** Succession at authorities: one successor for each term, the log of a successor, and a new key of the server. */
import {
  AttributeAuthority,
  type Ctx,
  endorseTerm,
  inTerm,
  type Line,
  type ModelEntry,
  millis,
  modelAppendCodec,
  SERVER_SEAT,
  type Term,
  taskIdOf,
  termHashOf,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { type FederationAuthority, granted, reasonOf } from '@basa/simulator';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { describe, expect, it } from 'vitest';
import { federation, HEAD, proposal, second, signed, switched, WAIT_MS } from './succession-scene.ts';

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
  it('refuses a line with another term than the one that it is in, and accepts a shorter line', () => {
    const world = federation();
    const { policy } = world;
    const term = signed(world, proposal(world));
    switched(world, term);
    const signers = world.authorities.slice(1).map(({ ports }) => ports.signer);
    const forged = signers.reduce((so, one) => endorseTerm(policy, one, so), proposal(world));
    const { core } = second(world);
    const answerTo = (...terms: Term[]) => core.followLine({ policy, terms }, world.now).answer;
    expect(reasonOf(answerTo(forged))).toBe('term-signed');
    expect([granted(answerTo(term)), granted(answerTo())]).toEqual([{ task: world.task }, { task: world.task }]);
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
  it('checks one signature at most of a line in which it did not accept a seat', () => {
    const world = federation();
    const key = world.signer();
    let verified = 0;
    const verify: typeof suite.verify = (signed) => {
      verified++;
      return suite.verify(signed);
    };
    const fresh = new AttributeAuthority({ suite: { ...suite, verify }, signer: key, issuerFor: () => undefined });
    const answers = (line: Line) => [reasonOf(fresh.followLine(line, world.now).answer), verified];
    const foreign = signed(world, proposal(world));
    expect(answers({ policy: world.policy, terms: [foreign] })).toEqual(['no-seat', 0]);
    // The sender names the key of this authority in a later term.
    const named = { ...foreign, number: 2, key: key.publicKey };
    expect(answers({ policy: world.policy, terms: [foreign, named] })).toEqual(['term-invalid', 1]);
    // It accepted a seat in another task.
    const elsewhere = proposal(world, { task: new Uint8Array(32) as typeof world.task }, key);
    expect(answers({ policy: world.policy, terms: [foreign, elsewhere] })).toEqual(['term-invalid', 1]);
  });
  it('joins no task with an invalid policy, and begins a term whose time has come at once', () => {
    const world = federation();
    const key = world.signer();
    const fresh = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    const term = signed(world, proposal(world, {}, key));
    const line = { policy: world.policy, terms: [term] };
    const unusable = { ...world.policy, minimum: 1 };
    const invalid = { policy: unusable, terms: [proposal(world, { task: taskIdOf(suite, unusable) }, key)] };
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

it('neither a successor nor the other authorities sign a term whose address nobody could use', () => {
  const world = federation();
  const key = world.signer();
  const fresh = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
  const term = proposal(world, { address: 'new.example' }, key);
  for (const core of [fresh, second(world).core])
    expect(reasonOf(core.signTerm(term, world.now).answer)).toBe('term-invalid');
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
