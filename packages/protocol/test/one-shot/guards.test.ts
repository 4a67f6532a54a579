/** A broken upload is refused by itself: the server reads its guard words with the words that authorities give. */
import { packVector } from '@basa/masking';
import { granted } from '@basa/protocol';
import { votersOf } from '@basa/protocol/internal/one-shot/batching.ts';
import { guardVerdict, wrongVerdicts } from '@basa/protocol/internal/one-shot/server.ts';
import { guardWordsOf } from '@basa/protocol/internal/wire/input.ts';
import { oneShotOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { shotLayout, type Verdict } from '@basa/protocol/wire';
import type { StoredShot } from '@basa/simulator';
import type { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { forged, pair } from './scene.ts';

it('the voters for an upload found it good, and a refusal makes it doubtful', () => {
  const said = (authority: number, verdict: Verdict['verdict']) => ({ authority, verdict });
  const [good, silent] = [said(1, 'good'), said(3, 'abstain')];
  expect(votersOf([silent, good])).toEqual({ good: 0b0010, isDoubted: false });
  expect(votersOf([good, said(0, 'bad')])).toEqual({ good: 0b0010, isDoubted: true });
});

describe('the guards', () => {
  /** The verdicts of all authorities about one upload. */
  function answersFor(world: ShotWorld, shot: StoredShot): readonly Verdict[] {
    return world.indices.map((index) => granted(world.server.inspectBy(index, [shot])).verdicts[0] as Verdict);
  }

  it.each([0, 1, 2, 3, -4, -3, -2, -1])('refuse an input that is broken at word %i before it enters a sum', (n) => {
    const { world, own, colluder } = pair();
    const vector = world.server.vectorOf(own).slice();
    const place = (vector.length + n) % vector.length;
    vector[place] = (vector[place] as number) + 1;
    const { vectorBytes } = shotLayout(world.policy, own.upload.header.epochs);
    const body = Uint8Array.of(...packVector(vector, world.policy.modulus), ...own.body.subarray(vectorBytes));
    const shot = forged(colluder, { ...own, body });
    expect(world.server.inspect([shot])).toEqual([{ kind: 'bad', reason: 'body-mismatch' }]);
  });

  it('wait for f + 1 equal answers about every part, and for f + 1 that call the upload bad', () => {
    const { world, own } = pair();
    const all = answersFor(world, own);
    const words = guardWordsOf(world.server.vectorOf(own));
    const judged = (answers: readonly Verdict[]) => guardVerdict(world.policy, words, answers).kind;
    expect(judged(all.slice(0, 2))).toBe('undecided');
    expect(judged(all.slice(0, 3))).toBe('good');
    const liar = (index: number): Verdict => ({
      ...(all[index] as Verdict),
      verdict: 'bad',
      reason: 'part-invalid',
      guards: [],
    });
    expect(judged([liar(0), ...all.slice(1)])).toBe('good');
    expect(judged([liar(0), liar(1), ...all.slice(2)])).toBe('bad');
    const unsaid = { ...liar(0), reason: undefined };
    expect(guardVerdict(world.policy, words, [unsaid, unsaid])).toEqual({ kind: 'bad', reason: 'part-invalid' });
    const abstaining = { ...(all[2] as Verdict), verdict: 'abstain' as const };
    expect(judged([...all.slice(0, 2), abstaining])).toBe('undecided');
    const shifted = {
      ...(all[0] as Verdict),
      guards: (all[0] as Verdict).guards.map((one) => ({ ...one, words: Array(8).fill(9) })),
    };
    expect(judged([shifted, ...all.slice(1)])).toBe('good');
    expect(judged([shifted, ...all.slice(1, 3)])).toBe('undecided');
  });

  it('name an authority whose words differ from those of f + 1 others, and nobody if it is the only one', () => {
    const { world, own } = pair();
    const all = answersFor(world, own);
    const wrong = (answers: readonly Verdict[], policy = world.policy) => wrongVerdicts(policy, answers);
    const [first, ...others] = all as [Verdict, ...Verdict[]];
    const shifted = { ...first, guards: first.guards.map((one) => ({ ...one, words: Array(8).fill(9) })) };
    expect(wrong(all)).toEqual([]);
    expect(wrong([shifted, ...others])).toEqual([shifted]);
    expect(wrong([...others, shifted])).toEqual([shifted]);
    expect(wrong([{ ...shifted, verdict: 'abstain' }, ...others])).toEqual([]);
    expect(wrong([{ ...first, guards: [] }, ...others])).toEqual([]);
    expect(wrong([shifted, others[0] as Verdict])).toEqual([]);
    const alone = { ...world.policy, oneShot: { ...oneShotOf(world.policy), tolerated: 0 } };
    expect(wrong([shifted, ...others], alone)).toEqual([]);
  });

  it('wait for as many authorities as a batch needs, so that one upload does not hold up the others', () => {
    const { world, own } = pair();
    const all = answersFor(world, own);
    const words = guardWordsOf(world.server.vectorOf(own));
    const judged = (answers: readonly Verdict[]) => guardVerdict(world.policy, words, answers).kind;
    const spent: Verdict = { ...(all[3] as Verdict), verdict: 'bad', reason: 'budget-spent', guards: [] };
    // Authority 3 counts more sums of this device than the others: with all of them there are enough votes.
    expect(judged([...all.slice(0, 3), spent])).toBe('good');
    const withOneDown = [...all.slice(0, 2), spent];
    expect(judged(withOneDown)).toBe('undecided');
  });

  it('count no authority whose epoch is over or not named', () => {
    const { world, own } = pair();
    const all = answersFor(world, own);
    const words = guardWordsOf(world.server.vectorOf(own));
    const four = { ...world.policy, threshold: 4 };
    const last: Verdict = { ...(all[3] as Verdict), verdict: 'abstain', reason: 'epoch-over', guards: [] };
    expect(guardVerdict(four, words, [...all.slice(0, 3), last]).kind).toBe('undecided');
  });

  it('count an authority once for each part, even if it repeats its answer', () => {
    const { world, own } = pair();
    const all = answersFor(world, own);
    const words = guardWordsOf(world.server.vectorOf(own));
    const guards = (all[0] as Verdict).guards.map((one) => ({ ...one, words: Array(8).fill(9) }));
    const twice = { ...(all[0] as Verdict), guards: [...guards, ...guards] };
    expect(guardVerdict(world.policy, words, [twice, ...all.slice(1)])).toEqual({ kind: 'good' });
    expect(guardVerdict(world.policy, words, [twice])).toEqual({ kind: 'undecided' });
  });
});
