/** The newest model after a switch of terms or a rollback: it is signed again once, repeated once, and no other version takes its place. */
import {
  AttributeAuthority,
  type Ctx,
  councilBefore,
  endorse,
  inTerm,
  isEndorsed,
  isRefused,
  joined,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  SERVER_SEAT,
  type TaskPolicy,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { type Federation, type FederationAuthority, granted, reasonOf } from '@basa/simulator';
import { severalAuthorities } from '@basa/testkit/core/several.ts';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
import { describe, expect, it } from 'vitest';
import { federation, proposal, second, signed, switched, unheard, WAIT_MS } from './succession-scene.ts';

/** The step of an authority that is asked for a version without sums. */
function emptyVersion(
  world: Federation,
  core: AttributeAuthority,
  version: number,
  modelHash: Uint8Array,
  key = world.server.ports.signer,
) {
  const append = { task: world.task, version, modelHash, sums: [], spoilt: [], closed: [] };
  return core.appendModel({ ...append, signature: key.sign(modelAppendCodec.statement(append)) });
}

describe('a branch', () => {
  it('begins with one version without sums, which repeats a model in the log', () => {
    const world = severalAuthorities({ council: { authorities: 1, threshold: 1 }, sealings: slotKeySealings(1) });
    const { authority } = world;
    const { modelHash } = authority.core.newestModel(world.task) as ModelEntry;
    const append = (version: number, hash = modelHash): string => {
      const answer = authority.persist(emptyVersion(world, authority.core, version, hash));
      return isRefused(answer) ? answer.reason : 'logged';
    };
    let version = 0;
    expect(append(1)).toBe('buffer-unknown');
    for (const _ of ['a rollback', 'another one']) {
      authority.persist(authority.core.start(undefined, world.randomBytes(16), world.now));
      expect(append(version + 1, new Uint8Array(32).fill(9))).toBe('other-model');
      authority.restart();
      expect(append(version + 1)).toBe('logged');
      expect(append(version + 2)).toBe('buffer-unknown');
      version++;
    }
  });
  it('that begins before the newest version is signed again in a new term adds none to that of the term', () => {
    const recovery = severalAuthorities().signer();
    const succession = { waitMs: WAIT_MS, recoveryHash: suite.sha256(recovery.publicKey) };
    const council = { authorities: 1, threshold: 1 };
    const world = severalAuthorities({ council, sealings: slotKeySealings(1), policy: { succession } });
    const { authority } = world;
    const newest = authority.core.newestModel(world.task) as ModelEntry;
    const key = world.signer();
    const term = signedTerm(world.policy, { seat: SERVER_SEAT, key, signers: [authority.ports.signer], recovery });
    granted(authority.persist(authority.core.followLine({ policy: world.policy, terms: [term] }, term.effective)));
    granted(authority.persist(authority.core.tick(term.effective)));
    authority.persist(authority.core.start(undefined, world.randomBytes(16), world.now));
    const append = (version: number) => emptyVersion(world, authority.core, version, newest.modelHash, key);
    expect(reasonOf(append(1).answer)).toBe('buffer-unknown');
    granted(authority.persist(authority.core.renewModel(newest)));
    granted(authority.persist(append(1)));
    expect(reasonOf(append(2).answer)).toBe('buffer-unknown');
  });
});

describe('the switch', () => {
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
  it('repeats the newest model once in a term, for devices that gave their updates on it in the term before', () => {
    const recovery = severalAuthorities().signer();
    const succession = { waitMs: WAIT_MS, recoveryHash: suite.sha256(recovery.publicKey) };
    const council = { authorities: 1, threshold: 1 };
    const world = severalAuthorities({ council, sealings: slotKeySealings(1), policy: { succession } });
    const [one, two] = [world.signer(), world.signer()];
    const first = signedTerm(world.policy, { isLost: true, key: one, signers: [], recovery });
    const second = signedTerm(inTerm(suite, world.policy, first), { isLost: true, key: two, signers: [], recovery });
    const { modelHash } = world.authority.core.newestModel(world.task) as ModelEntry;
    const repeated = (core: AttributeAuthority, version: number, hash = modelHash): string => {
      const append = { task: world.task, version, modelHash: hash, sums: [], spoilt: [], closed: [] };
      const signature = world.server.ports.signer.sign(modelAppendCodec.statement(append));
      const { answer, records } = core.appendModel({ ...append, signature });
      core.apply(records);
      return isRefused(answer) ? answer.reason : 'logged';
    };
    let last = world.authority.core;
    expect(repeated(last, 1)).toBe('buffer-unknown'); // there was no succession
    [one, two].forEach((key, n) => {
      const core = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
      const line = { policy: world.policy, terms: [first, second].slice(0, n + 1) };
      core.apply(core.followLine(line, second.effective).records);
      expect(repeated(core, n + 1)).toBe('wrong-version');
      core.apply(core.renewModel(last.newestModel(world.task) as ModelEntry).records);
      expect(repeated(core, n + 1, new Uint8Array(32).fill(9))).toBe('other-model');
      expect(repeated(core, n + 1)).toBe('logged');
      expect(repeated(core, n + 2)).toBe('buffer-unknown');
      last = core;
    });
  });
  it('does not begin with a version that a stolen key of a single authority signed beyond its log', () => {
    const world = severalAuthorities({ council: { authorities: 1, threshold: 1 }, sealings: slotKeySealings(1) });
    const { core, ports } = world.authority;
    const { endorsements: _, ...newest } = core.newestModel(world.task) as ModelEntry;
    const forged = endorse(modelEntryCodec, world.policy, ports.signer, {
      ...newest,
      version: Number.MAX_SAFE_INTEGER,
    });
    const shown = core.adoptModel(forged);
    expect([reasonOf(shown.answer), shown.records]).toEqual(['model-not-logged', []]);
    const empty = new AttributeAuthority({ ...ports, issuerFor: () => undefined });
    empty.apply(empty.createTask(world.policy).records);
    expect(reasonOf(empty.adoptModel(forged).answer)).toBe('model-not-logged');
  });
  it("lets no successor of a single authority begin with a version 0 of the server's choice", () => {
    const recovery = severalAuthorities().signer();
    const succession = { waitMs: WAIT_MS, recoveryHash: suite.sha256(recovery.publicKey) };
    const council = { authorities: 1, threshold: 1 };
    const world = severalAuthorities({ council, sealings: slotKeySealings(1), policy: { succession } });
    const key = world.signer();
    const term = signedTerm(world.policy, { isLost: true, key, signers: [], recovery });
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    successor.apply(successor.followLine({ policy: world.policy, terms: [term] }, term.effective).records);
    expect(reasonOf(emptyVersion(world, successor, 0, new Uint8Array(32).fill(7)).answer)).toBe('wrong-version');
    const entry = world.authority.core.newestModel(world.task) as ModelEntry;
    expect(granted(successor.renewModel(entry).answer).version).toBe(0);
  });
  it("goes on with an earlier model after a thief of the server's key appended a hash that no model has", () => {
    const world = federation();
    const authority = second(world);
    const entry = (version: number, hash: Uint8Array, sums: Ctx[]): ModelEntry => {
      const body = { ...unheard(world, version), modelHash: hash, sums, endorsements: [] };
      const parts = world.authorities.map(({ ports }) => endorse(modelEntryCodec, world.policy, ports.signer, body));
      return { ...body, endorsements: joined(parts.flatMap(({ endorsements }) => endorsements)) };
    };
    const { modelHash } = authority.core.newestModel(world.task) as ModelEntry;
    const none = new Uint8Array(32).fill(66);
    for (const version of [1, 2])
      granted(
        authority.persist(authority.core.adoptModel(entry(version, none, [new Uint8Array(32).fill(version) as Ctx]))),
      );
    const junk = authority.core.newestModel(world.task) as ModelEntry;
    const key = world.signer();
    const policy = switched(world, signed(world, proposal(world, { seat: SERVER_SEAT, address: '' }, key)));
    granted(authority.persist(authority.core.renewModel(junk)));
    const parts = world.authorities.map(({ ports }) => endorse(modelEntryCodec, policy, ports.signer, junk));
    const renewed = { ...junk, endorsements: joined(parts.flatMap(({ endorsements }) => endorsements)) };
    granted(authority.persist(authority.core.adoptModel(renewed)));
    const append = (version: number, hash: Uint8Array) => emptyVersion(world, authority.core, version, hash, key);
    expect(reasonOf(append(3, new Uint8Array(32).fill(9)).answer)).toBe('other-model');
    expect(granted(authority.persist(append(3, modelHash))).modelHash).toEqual(modelHash);
    authority.restart();
    expect(reasonOf(append(3, none).answer)).toBe('other-model');
    expect(reasonOf(append(4, modelHash).answer)).toBe('wrong-version');
  });
  it('repeats the newest model at an authority that keeps its seat', () => {
    const world = federation();
    const authority = second(world);
    switched(world, signed(world, proposal(world)));
    const newest = authority.core.newestModel(world.task) as ModelEntry;
    const renewed = world.authorities.slice(1).map(({ core }) => granted(core.renewModel(newest).answer));
    const endorsements = joined(renewed.flatMap((each) => each.endorsements));
    granted(authority.persist(authority.core.adoptModel({ ...newest, endorsements })));
    const append = { ...newest, version: 1, closed: [] };
    const signature = world.server.ports.signer.sign(modelAppendCodec.statement(append));
    expect(granted(authority.core.appendModel({ ...append, signature }).answer)).toMatchObject({
      version: 1,
      sums: [],
    });
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
  it('gives no second signature for a version that was signed again, after an older one entered the log', () => {
    const world = federation();
    const authority = second(world);
    const hidden = unheard(world);
    const first = authority.core.newestModel(world.task) as ModelEntry;
    switched(world, signed(world, proposal(world)));
    const parts = world.authorities.slice(1).map(({ core }) => granted(core.renewModel(first).answer).endorsements);
    granted(authority.persist(authority.core.renewModel(hidden)));
    granted(authority.persist(authority.core.adoptModel({ ...first, endorsements: joined(parts.flat()) })));
    const append = { ...first, version: 1, closed: [] };
    const signature = world.server.ports.signer.sign(modelAppendCodec.statement(append));
    expect(reasonOf(authority.core.appendModel({ ...append, signature }).answer)).toBe('other-model');
    authority.restart();
    expect(reasonOf(authority.core.appendModel({ ...append, signature }).answer)).toBe('other-model');
  });
  it('keeps a version that was signed before the last terms, unless it goes far beyond the log', () => {
    const world = federation();
    const authority = second(world);
    const [next, far] = [unheard(world, 1), unheard(world, 2)];
    const [server, key] = [world.signer(), world.signer()];
    const first = signed(world, proposal(world, { seat: SERVER_SEAT, address: '' }, server));
    const between = switched(world, first);
    const signers = world.authorities.slice(1).map(({ ports }) => ports.signer);
    const then = signedTerm(between, { isLost: true, key, signers });
    granted(
      authority.persist(authority.core.followLine({ policy: world.policy, terms: [first, then] }, then.effective)),
    );
    granted(authority.persist(authority.core.tick(then.effective)));
    expect(reasonOf(authority.core.renewModel(far).answer)).toBe('model-not-logged');
    expect(granted(authority.core.renewModel(next).answer).version).toBe(1);
    // A successor has no log to compare with.
    const successor = new AttributeAuthority({ suite, signer: key, issuerFor: () => undefined });
    successor.apply(successor.followLine({ policy: world.policy, terms: [first, then] }, then.effective).records);
    expect(granted(successor.renewModel(far).answer).version).toBe(2);
    const some = { ...far, endorsements: far.endorsements.slice(0, 2) };
    expect(reasonOf(successor.renewModel(some).answer)).toBe('model-not-logged');
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
});
