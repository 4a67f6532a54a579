/** Succession: the terms that count, the changes that they make, and statements in a term. */
import { equalBytes, type Signer } from '@basa/masking';
import { nodeSuite as suite } from '@basa/runtime/node';
import { HEAD, signedTerm, type WantedTerm } from '@basa/testkit/core/signed-terms.ts';
import { describe, expect, test } from 'vitest';
import {
  agreedOn,
  type Certificate,
  type Ctx,
  certificateCodec,
  currentHash,
  decodeHeldPolicy,
  decodePolicy,
  encodeHeldPolicy,
  encodePolicy,
  endorse,
  endorseTerm,
  inTerm,
  isCertified,
  isEndorsed,
  isOutcomeOf,
  millis,
  NO_TERMS,
  outcomeCodec,
  policyProblem,
  receiveLine,
  SERVER_SEAT,
  signInTerm,
  type TaskPolicy,
  type Term,
  taskIdOf,
  termProblem,
  voteCodec,
} from '../../src/index.ts';
import { a, b, c, d, four, good, policyOf, reasonOf, recoveryKey, server, signer, termOf, WEEK } from './term-scene.ts';

describe('the lines of the policy', () => {
  test('without succession a policy keeps its bytes, and with it they come back', () => {
    const { succession, ...without } = four;
    const bytes = encodePolicy(without);
    expect(encodePolicy(four).length).toBe(bytes.length + 4 + 33);
    expect(equalBytes(encodePolicy(four).subarray(0, bytes.length), bytes)).toBe(true);
    expect(decodePolicy(bytes).succession).toBeUndefined();
    expect(decodePolicy(encodePolicy(four)).succession).toEqual(succession);
  });
  test('a recovery key is required if every authority is needed', () => {
    const lines = { succession: { waitMs: WEEK, recoveryHash: undefined } };
    expect(policyProblem(policyOf(4, 3, lines))).toBeUndefined();
    expect(policyProblem(policyOf(1, 1, lines))).toContain('recovery key');
    expect(policyProblem(policyOf(3, 3, lines))).toContain('recovery key');
    expect(policyProblem(policyOf(1, 1))).toBeUndefined();
  });
  test('only the policy in its first term is written for others; its owner keeps the term', () => {
    const later = inTerm(suite, four, good);
    expect(() => encodePolicy(later)).toThrow('first term');
    expect(decodeHeldPolicy(encodeHeldPolicy(later))).toEqual(later);
    expect(encodeHeldPolicy(four)).toEqual(encodePolicy(four));
    expect(() => decodePolicy(encodeHeldPolicy(later))).toThrow('bytes too long');
    expect(taskIdOf(suite, later)).toEqual(taskIdOf(suite, four));
  });
});

describe('a term', () => {
  test('of t seats and the new key counts, and changes one key', () => {
    expect(termProblem(suite, four, good)).toBeUndefined();
    const later = inTerm(suite, four, good);
    expect(later.authorities[0]).toEqual(good.key);
    expect(later.authorities.slice(1)).toEqual(four.authorities.slice(1));
    expect(later.term?.number).toBe(1);
  });
  test('needs t seats, the new key, the task, the term before, and a seat that exists', () => {
    expect(reasonOf(four, termOf(four, { signers: [a, b] }))).toBe('term-unsigned');
    expect(reasonOf(four, { ...good, accepted: new Uint8Array(64) })).toBe('term-invalid');
    expect(reasonOf(policyOf(4, 3, { level: 2048 }), good)).toBe('term-invalid');
    expect(reasonOf(inTerm(suite, four, good), good)).toBe('term-invalid');
    expect(reasonOf(four, termOf(four, { seat: 4, isLost: true, signers: [a, b, c] }))).toBe('term-invalid');
    const { succession: _, ...forbidden } = four;
    expect(reasonOf(forbidden, good)).toBe('succession-forbidden');
  });
  test('that enough seats signed still names its task, its number and the term before it', () => {
    const other = policyOf(4, 3, { level: 2048 });
    const changes = [
      { task: taskIdOf(suite, other) },
      { number: 2 },
      { previous: new Uint8Array(32) },
      { previous: currentHash(suite, other) },
    ];
    for (const change of changes)
      expect(reasonOf(four, termOf(four, { change, signers: [a, b, c] }))).toBe('term-invalid');
  });
  test('of an authority has an address of the form http(s)://host[:port]', () => {
    const reasons = (addresses: readonly string[]) =>
      addresses.map((address) => reasonOf(four, termOf(four, { change: { address }, signers: [a, b, c] })));
    const good = ['http://a_1.b-2.example', 'https://[2001:db8::1]:8443', 'https://10.0.0.7:80'];
    expect(reasons(good)).toEqual(good.map(() => undefined));
    const [host, rest] = ['https://a.example', ['', '/', '/v1', ':', ':123456', '?x', ',https://b.example', '\n']];
    const bad = [
      '',
      'a.example',
      'ftp://a.example',
      'https://',
      'https://u@a.example',
      'https://a b',
      'xhttps://a',
      'https://a..b',
    ];
    const all = [...bad, ...rest.slice(1).map((end) => host + end)];
    expect(reasons(all)).toEqual(all.map(() => 'term-invalid'));
    expect(reasons([host])).toEqual([undefined]);
  });
  test('with a changed word has no signature', () => {
    for (const change of [{ seat: 1 }, { effective: millis(good.effective + 1) }, { address: 'https://evil.example' }])
      expect(reasonOf(four, { ...good, ...change })).toBe('term-invalid');
  });
  test('counts only signatures of seats, made in the term before', () => {
    const zeros = new Uint8Array(64);
    const forged = good.endorsements.map((one) => ({ ...one, signature: zeros }));
    expect(reasonOf(four, { ...good, endorsements: forged })).toBe('term-invalid');
    const strangers = policyOf(4, 3, { authorities: [60, 61, 62, 63].map((n) => signer(n).publicKey) });
    const theirs = [60, 61, 62].flatMap(
      (n) => endorseTerm(strangers, signer(n), { ...good, endorsements: [] }).endorsements,
    );
    expect(reasonOf(four, { ...good, endorsements: theirs })).toBe('term-invalid');
    const later = inTerm(suite, four, good);
    const next = termOf(later, { seat: 1, signers: [] });
    const early = [a, b, c].reduce((so, one) => endorseTerm(four, one, so), next);
    expect(reasonOf(later, early)).toBe('term-invalid');
  });
  test('does not give a seat to a key that holds or held one, or to the server', () => {
    const later = inTerm(suite, four, good);
    const signers = [signer(50), b, c];
    expect(reasonOf(four, termOf(four, { key: d, signers: [a, b, c] }))).toBe('term-invalid');
    expect(reasonOf(four, termOf(four, { key: server, signers: [a, b, c] }))).toBe('term-invalid');
    expect(reasonOf(later, termOf(later, { key: a, signers }))).toBe('term-invalid');
    expect(reasonOf(later, termOf(later, { signers }))).toBeUndefined();
  });
  test('takes effect no sooner than the wait after the term before', () => {
    const later = inTerm(suite, four, good);
    const soon = termOf(later, {
      change: { effective: millis(good.effective + WEEK - 1) },
      signers: [signer(50), b, c],
    });
    expect(reasonOf(later, soon)).toBe('term-invalid');
  });
  test('of a lost seat is signed by the others; a seat that signs is not lost', () => {
    expect(reasonOf(four, termOf(four, { isLost: true, signers: [b, c, d] }))).toBeUndefined();
    expect(reasonOf(four, termOf(four, { isLost: true, signers: [a, b, c] }))).toBe('term-invalid');
    expect(reasonOf(four, termOf(four, { signers: [b, c, d] }))).toBe('term-invalid');
  });
  test('of one authority needs the recovery key; the old key is never enough', () => {
    const one = policyOf(1, 1);
    expect(reasonOf(one, termOf(one, { signers: [a] }))).toBe('term-unsigned');
    expect(reasonOf(one, termOf(one, { signers: [a], recovery: recoveryKey }))).toBeUndefined();
    expect(reasonOf(one, termOf(one, { isLost: true, signers: [], recovery: recoveryKey }))).toBeUndefined();
    expect(reasonOf(one, termOf(one, { isLost: true, signers: [] }))).toBe('term-unsigned');
    expect(reasonOf(one, termOf(one, { isLost: true, signers: [], recovery: signer(77) }))).toBe('term-invalid');
  });
  test('if all are needed: all the others and the recovery key', () => {
    const all = policyOf(3, 3);
    expect(reasonOf(all, termOf(all, { isLost: true, signers: [b, c], recovery: recoveryKey }))).toBeUndefined();
    expect(reasonOf(all, termOf(all, { isLost: true, signers: [b, c] }))).toBe('term-unsigned');
    const few = { isLost: true, signers: [b] };
    const detail = (recovery?: Signer) => termProblem(suite, all, termOf(all, { ...few, recovery }))?.detail;
    expect(detail(recoveryKey)).toBe('1 of 3 seats signed it, with the recovery key; 3 are needed');
    expect(detail()).toBe('1 of 3 seats signed it, without the recovery key; 3 are needed');
  });
});

describe('a new key of the server', () => {
  const next = signer(202);
  const [one, all] = [policyOf(1, 1), policyOf(3, 3)];
  const servers = (policy: TaskPolicy, wanted: Partial<WantedTerm> = {}): Term =>
    signedTerm(policy, { seat: SERVER_SEAT, key: next, signers: [a, b, c], ...wanted });

  test('counts by t seats, and changes nothing else', () => {
    const term = servers(four);
    expect(termProblem(suite, four, term)).toBeUndefined();
    const { serverKey, authorities, term: now } = inTerm(suite, four, term);
    expect([serverKey, authorities]).toEqual([next.publicKey, four.authorities]);
    expect(now).toMatchObject({ number: 1, retired: [server.publicKey], previous: { authorities } });
    expect(decodeHeldPolicy(encodeHeldPolicy(inTerm(suite, four, term))).serverKey).toEqual(next.publicKey);
  });
  test.each<[what: string, policy: TaskPolicy, wanted: Partial<WantedTerm>, reason: string | undefined]>([
    ['fewer than t seats', four, { signers: [a, b] }, 'term-unsigned'],
    ['fewer than t seats, and the recovery key', all, { signers: [a, b], recovery: recoveryKey }, 'term-unsigned'],
    ['all seats if all are needed', all, {}, undefined],
    ['only one authority', one, { signers: [a] }, 'term-unsigned'],
    ['one authority and the recovery key', one, { signers: [a], recovery: recoveryKey }, undefined],
    ['only the recovery key', one, { signers: [], recovery: recoveryKey }, 'term-unsigned'],
    ['another recovery key', one, { signers: [a], recovery: signer(77) }, 'term-invalid'],
    ['the key that it has', four, { key: server }, 'term-invalid'],
    ['the key of an authority', four, { key: d }, 'term-invalid'],
    ['an address', four, { change: { address: 'https://server.example' } }, 'term-invalid'],
    ['a last head', four, { change: { last: HEAD } }, 'term-invalid'],
    ['too soon', four, { change: { effective: millis(WEEK - 1) } }, 'term-invalid'],
    ['another seat that no authority has', four, { seat: SERVER_SEAT - 1, isLost: true }, 'term-invalid'],
  ])('%s', (_, policy, wanted, reason) => {
    expect(reasonOf(policy, servers(policy, wanted))).toBe(reason);
  });
  test('is accepted by its owner', () => {
    expect(reasonOf(four, { ...servers(four), accepted: servers(four, { key: signer(203) }).accepted })).toBe(
      'term-invalid',
    );
  });
  test('is never signed by the old key, which has no seat', () => {
    const few = servers(four, { signers: [a, b] });
    const alone = { ...four, authorities: [server.publicKey] };
    const [own] = endorseTerm(alone, server, { ...few, endorsements: [] }).endorsements;
    const signature = own?.signature ?? new Uint8Array();
    for (const authority of [2, SERVER_SEAT])
      expect(reasonOf(four, { ...few, endorsements: [...few.endorsements, { authority, signature }] })).toBe(
        'term-invalid',
      );
  });
  test('a key that the server had or has takes no role again', () => {
    const later = inTerm(suite, four, servers(four));
    expect(reasonOf(later, servers(later, { key: signer(203) }))).toBeUndefined();
    expect(reasonOf(later, servers(later, { key: server }))).toBe('term-invalid');
    for (const key of [server, next])
      expect(reasonOf(later, termOf(later, { key, signers: [a, b, c] }))).toBe('term-invalid');
    const seated = inTerm(suite, four, good);
    expect(reasonOf(seated, servers(seated, { key: a, signers: [signer(50), b, c] }))).toBe('term-invalid');
  });
  test('is followed by a device at its time, and not from retired seats after a long absence', () => {
    const terms = [servers(four)];
    const shown = (now: number, heardAt: number): unknown =>
      receiveLine({ suite, now: millis(now) }, { ...NO_TERMS, heardAt: millis(heardAt) }, { policy: four, terms });
    expect(shown(WEEK - 1, 0)).toMatchObject({ policy: { serverKey: server.publicKey } });
    expect(shown(WEEK, 0)).toMatchObject({ policy: { serverKey: next.publicKey } });
    expect(shown(4 * WEEK, WEEK)).toMatchObject({ reason: 'term-late' });
  });
});

describe('statements', () => {
  const later = inTerm(suite, four, good);
  const task = taskIdOf(suite, four);
  const vote = { task, ctx: new Uint8Array(32) as never, closing: new Uint8Array(32) };
  const by = (policy: TaskPolicy, ...signers: readonly Signer[]) =>
    agreedOn(
      voteCodec,
      policy,
      signers.map((one) => endorse(voteCodec, policy, one, vote)),
    );

  test('name their term: those of one term do not count in another', () => {
    const [before, after] = [by(four, a, b, c), by(later, signer(50), b, c)];
    expect(before && isEndorsed(suite, voteCodec, four, before)).toBe(true);
    expect(before && isEndorsed(suite, voteCodec, later, before)).toBe(false);
    expect(after && isEndorsed(suite, voteCodec, later, after)).toBe(true);
    expect(after && isEndorsed(suite, voteCodec, four, after)).toBe(false);
  });
  test('about a buffer count in their term only, unless they say that the buffer is unknown', () => {
    const ctx = new Uint8Array(32) as Ctx;
    const counts = (status: 'aborted' | 'unknown', signedIn: TaskPolicy, policy: TaskPolicy): boolean => {
      const outcome = signInTerm(outcomeCodec, signedIn, b, { ctx, status, accepted: [] });
      return isOutcomeOf(suite, policy, ctx, { authority: 1, outcome });
    };
    expect([counts('aborted', later, later), counts('aborted', four, four)]).toEqual([true, true]);
    expect([counts('aborted', four, later), counts('aborted', later, four)]).toEqual([false, false]);
    // An authority that does not know the buffer does not know its task and term either.
    expect([counts('unknown', four, later), counts('unknown', later, later)]).toEqual([true, false]);
  });
  test('a seat counts once: the old key and the new key of one seat are not two', () => {
    const mixed = by(four, b, c);
    expect(mixed).toBeUndefined();
    const [old] = endorse(voteCodec, four, a, vote).endorsements;
    const [fresh] = endorse(voteCodec, later, signer(50), vote).endorsements;
    const [third] = endorse(voteCodec, later, b, vote).endorsements;
    for (const policy of [four, later])
      expect(isEndorsed(suite, voteCodec, policy, { ...vote, endorsements: [old, fresh, third] as never })).toBe(false);
  });
  test('certificates hold over one succession, and never over two', () => {
    const body = { task, deviceKey: signer(99).publicKey, issuedAt: millis(0), notAfter: millis(1) };
    const [first, ...others] = [a, b, c].map((one) => endorse(certificateCodec, four, one, body)) as Certificate[];
    const certificate = agreedOn(certificateCodec, four, [first as Certificate, ...others]) as Certificate;
    const next = inTerm(suite, later, termOf(later, { seat: 1, signers: [signer(50), b, c] }));
    expect([four, later, next].map((policy) => isCertified(suite, policy, certificate))).toEqual([true, true, false]);
  });
});
