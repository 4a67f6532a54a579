/** Lines of terms, and the attacks that the rules for devices stop. */
import { equalBytes } from '@basa/masking';
import { nodeSuite as suite } from '@basa/runtime/node';
import { sample } from '@basa/testkit/core/sample.ts';
import { fuzzDecoder } from '@basa/testkit/fuzz/decoders.ts';
import { describe, expect, test } from 'vitest';
import {
  followLine,
  inTerm,
  isRefused,
  LINE_BYTES,
  lineCodec,
  MAX_TERMS,
  type Millis,
  millis,
  NO_TERMS,
  receiveLine,
  seenTermCodec,
  type TaskPolicy,
  TERM_BYTES,
  type Term,
  termCodec,
  termHashOf,
  termNumber,
} from '../../src/index.ts';
import {
  a,
  b,
  c,
  d,
  four,
  good,
  policyOf,
  reasonOf,
  recoveryKey,
  seatsOf,
  signer,
  termOf,
  WEEK,
} from './term-scene.ts';

describe('a line', () => {
  const later = inTerm(suite, four, good);
  const second = termOf(later, { seat: 1, signers: [signer(50), b, c] });
  test('is followed link by link', () => {
    const policies = followLine(suite, { policy: four, terms: [good, second] });
    expect(isRefused(policies) ? policies : policies.map(termNumber)).toEqual([0, 1, 2]);
    expect(followLine(suite, { policy: four, terms: [second] })).toMatchObject({ reason: 'term-invalid' });
    const other = { ...second, previous: new Uint8Array(32) };
    expect(followLine(suite, { policy: four, terms: [good, other] })).toMatchObject({ reason: 'term-invalid' });
  });
  test('of the largest terms fits the bytes that services accept, and has at most 64 of them', () => {
    const most = policyOf(16, 9);
    const change = { address: `https://${'a'.repeat(248)}` };
    const largest = termOf(most, { signers: seatsOf(16), recovery: recoveryKey, change });
    expect(termCodec.encode(largest).length).toBeLessThanOrEqual(TERM_BYTES);
    expect(seenTermCodec.decode(seenTermCodec.encode({ term: largest, seenAt: millis(0) })).term).toEqual(largest);
    const line = lineCodec.encode({ policy: most, terms: Array(MAX_TERMS).fill(largest) });
    expect(line.length).toBeLessThanOrEqual(LINE_BYTES);
    const at = (number: number) => ({ ...later, term: { ...(later.term as NonNullable<typeof later.term>), number } });
    const next = (number: number) => reasonOf(at(number), termOf(at(number), { seat: 1, signers: [signer(50), b, c] }));
    expect([next(MAX_TERMS - 1), next(MAX_TERMS)]).toEqual([undefined, 'term-invalid']);
  });
  test('is bounded, and its decoders withstand hostile bytes', () => {
    const line = { policy: four, terms: [good, second] };
    expect(lineCodec.decode(lineCodec.encode(line))).toEqual(line);
    expect(() => lineCodec.encode({ policy: four, terms: Array(MAX_TERMS + 1).fill(good) })).toThrow('exceed');
    for (const { name, codec, bytes } of [sample(termCodec, good), sample(termCodec, second), sample(lineCodec, line)])
      expect(fuzzDecoder({ name, codec, bytes }, 2000, 1).runs).toBe(2000);
  });
});

describe('attacks', () => {
  const at = (days: number): Millis => millis(good.effective + days * 24 * 3_600_000);
  const show = (device: typeof NO_TERMS, terms: readonly Term[], now: Millis, policy = four) =>
    receiveLine({ suite, now }, device, { policy, terms });

  test('seats replaced one after another: f corrupt ones replace nobody, and each step waits', () => {
    const corrupt = [d];
    expect(reasonOf(four, termOf(four, { seat: 0, isLost: true, signers: corrupt }))).toBe('term-unsigned');
    const chain: Term[] = [];
    let [policy, keys] = [four, [a, b, c]];
    for (const seat of [0, 1, 2]) {
      const term = termOf(policy, { seat, signers: keys });
      chain.push(term);
      policy = inTerm(suite, policy, term);
      keys = keys.map((one, n) => (n === seat ? signer(50 + seat) : one));
    }
    const ends = chain.map(({ effective }) => effective);
    expect(ends.every((end, n) => n === 0 || end - (ends[n - 1] as number) >= WEEK)).toBe(true);
  });
  test('t retired keys that are stolen later do not move a device that was offline', () => {
    // All three were replaced meanwhile, in three terms a week apart; the device last heard from term 0 before the first.
    const forged = termOf(four, { seat: 3, key: signer(66), isLost: true, signers: [a, b, c] });
    const device = { ...NO_TERMS, heardAt: at(-1) };
    expect(show(device, [forged], at(20))).toMatchObject({ reason: 'term-late' });
    // The same device follows within (t - 1) W, when no three of them can have been retired.
    expect(show(device, [good], at(2))).toMatchObject({ kind: 'followed', terms: { followed: 1 } });
    expect(show(device, [good], at(13))).toMatchObject({ kind: 'followed', terms: { followed: 1 } });
    expect(show(device, [good], millis(at(13) + 1))).toMatchObject({ reason: 'term-late' });
    const isTrusted = (policy: TaskPolicy): boolean =>
      equalBytes(policy.term?.hash ?? new Uint8Array(), termHashOf(suite, good));
    const line = { policy: four, terms: [good] };
    expect(receiveLine({ suite, now: at(20), isTrusted }, device, line)).toMatchObject({ terms: { followed: 1 } });
    expect(receiveLine({ suite, now: at(20), isTrusted }, device, { policy: four, terms: [forged] })).toMatchObject({
      reason: 'term-late',
    });
  });
  test('t retired keys speak for the old term to a device that was offline, and the server hides the line', () => {
    const device = { ...NO_TERMS, heardAt: at(0) };
    expect(show(device, [], at(14))).toMatchObject({ kind: 'followed' });
    expect(show(device, [], at(15))).toMatchObject({ reason: 'term-late' });
    // Unless its application says that the first term is the current one.
    const isTrusted = ({ term }: TaskPolicy): boolean => term === undefined;
    const line = { policy: four, terms: [] };
    expect(receiveLine({ suite, now: at(15), isTrusted }, device, line)).toMatchObject({ kind: 'followed' });
    // A term that waits for its time changes nothing.
    const later = termOf(four, { signers: [a, b, c], change: { effective: at(100) } });
    expect(show(device, [later], at(15))).toMatchObject({ reason: 'term-late' });
    const followed = { ...NO_TERMS, followed: 1, heardAt: at(0), seen: [{ term: good, seenAt: at(0) }] };
    expect(show(followed, [good], at(15))).toMatchObject({ reason: 'term-late' });
    const one = policyOf(1, 1);
    for (const days of [1000, -1000]) expect(show(device, [], at(days), one)).toMatchObject({ kind: 'followed' });
  });
  test('a clock that was set back does not hide a long absence; one that was corrected by a day says enough', () => {
    const device = { ...NO_TERMS, heardAt: at(20) };
    expect(show(device, [], at(19))).toMatchObject({ kind: 'followed' });
    expect(show(device, [], millis(at(19) - 1))).toMatchObject({ reason: 'term-late' });
  });

  test('a device that connected and never asked for a model is late like any other', () => {
    const forged = termOf(four, { seat: 3, key: signer(66), isLost: true, signers: [a, b, c] });
    const connected = show(NO_TERMS, [], at(0));
    if (isRefused(connected)) throw new Error(connected.reason);
    expect(show(connected.terms, [], at(14))).toMatchObject({ terms: { heardAt: at(0) } });
    for (const terms of [[forged], []])
      expect(show(connected.terms, terms, at(15))).toMatchObject({ reason: 'term-late' });
  });

  test('a device follows no line in which one term does not count', () => {
    const unsigned = termOf(four, { signers: [a, b] });
    expect(show(NO_TERMS, [unsigned], at(0))).toMatchObject({ reason: 'term-unsigned' });
  });
  test('a device never goes back, and a second term with one number ends its participation', () => {
    const followed = show(NO_TERMS, [good], at(0));
    if (isRefused(followed)) throw new Error(followed.reason);
    expect(show(followed.terms, [], at(1))).toMatchObject({ terms: { followed: 1 } });
    const other = termOf(four, { seat: 1, signers: [b, c, d] });
    expect(reasonOf(four, other)).toBeUndefined();
    expect(show(followed.terms, [other], at(1))).toMatchObject({ reason: 'term-forked' });
  });
  test('a term is followed at its time, and not before', () => {
    expect(show(NO_TERMS, [good], at(-1))).toMatchObject({ terms: { followed: 0 } });
    expect(show(NO_TERMS, [good], at(0))).toMatchObject({ terms: { followed: 1 } });
  });
  test('with one authority a device waits by its own clock since it first saw the term', () => {
    const one = policyOf(1, 1);
    const term = termOf(one, { isLost: true, signers: [], recovery: recoveryKey });
    const first = show(NO_TERMS, [term], at(30), one);
    if (isRefused(first)) throw new Error(first.reason);
    expect(first.terms.followed).toBe(0);
    expect(show(first.terms, [term], at(36), one)).toMatchObject({ terms: { followed: 0 } });
    expect(show(first.terms, [term], at(37), one)).toMatchObject({ terms: { followed: 1 } });
    // However long it was away: the forger of a line would need the recovery key.
    expect(show({ ...first.terms, heardAt: at(0) }, [term], at(37), one)).toMatchObject({ terms: { followed: 1 } });
    // A term that the application names needs no wait.
    const line = { policy: one, terms: [term] };
    expect(receiveLine({ suite, now: at(30), isTrusted: () => true }, NO_TERMS, line)).toMatchObject({
      terms: { followed: 1 },
    });
  });
});
