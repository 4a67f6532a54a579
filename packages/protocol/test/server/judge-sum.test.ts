/** The judge of sums: an opened sum is applied only if it can be a sum of honest inputs. */
import { judgeSum } from '@basa/protocol/internal/one-shot/sums.ts';
import { inputElements } from '@basa/protocol/internal/wire/input.ts';
import { buildInput } from '@basa/protocol/one-shot';
import { seededWords } from '@basa/simulator/node';
import { rulesOf } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

describe('a sum', () => {
  const rules = rulesOf({ bufferSize: 4, minimum: 2, dimension: 6 });
  const judged = (...words: number[]) => {
    const total = new Uint32Array(inputElements(rules));
    total.set(words.map((word) => word >>> 0));
    return judgeSum(rules, total, 3);
  };

  it('is good from the least weights to the most, and no further', () => {
    const most = 3 * rules.weightScale;
    for (const weights of [3, most])
      expect(judged(3, 0, 0, 0, weights)).toMatchObject({ kind: 'good', weightSum: weights });
    for (const weights of [2, most + 1, -1])
      expect(judged(3, 0, 0, 0, weights)).toEqual({ kind: 'quarantine', why: 'the sum of weights is out of range' });
  });

  it.each([
    ['the count', [2, 0, 0, 0, 3]],
    ['one zero of three', [3, 0, 1, 0, 3]],
    ['the first word behind the coordinates', [3, 0, 0, 0, 3, ...Array(6).fill(0), 1]],
    ['the last word behind them', [3, 0, 0, 0, 3, ...Array(6).fill(0), 0, 0, 0, 1]],
  ])('with %s wrong is quarantined', (_, words) => {
    expect(judged(...words)).toEqual({ kind: 'quarantine', why: 'the guard words are wrong' });
  });

  it('whose mean would leave the clip is quarantined: a small sum of weights multiplies no step', () => {
    const { weightScale, clip, level } = { ...rules, level: 1024 };
    const meanOf = (weights: number, coordinate: number) => {
      const total = new Uint32Array(inputElements(rules));
      total.set([3, 0, 0, 0, weights, 30, coordinate >>> 0]);
      return judgeSum({ ...rules, level }, total, 3).kind;
    };
    const whole = 3 * level * clip;
    expect(meanOf(3 * weightScale, whole)).toBe('good');
    // A liar that takes nine tenths of the weight away leaves a tenth of the room, and a rounding for each update.
    const tenth = Math.ceil(whole / 10) + 3;
    const weights = Math.floor((3 * weightScale) / 10);
    expect([meanOf(weights, whole), meanOf(weights, -whole)]).toEqual(['quarantine', 'quarantine']);
    expect([meanOf(weights, tenth), meanOf(weights, tenth + 1), meanOf(weights, -tenth - 1)]).toEqual([
      'good',
      'quarantine',
      'quarantine',
    ]);
  });

  it('of honest updates is good for all sizes and weights', () => {
    const words = seededWords(1);
    const unit = (): number => {
      const word = new Uint32Array(1);
      words(word);
      return (word[0] as number) / 2 ** 32;
    };
    const task = { ...rules, level: 1000, clip: 0.37 };
    for (let round = 0; round < 50; round++) {
      const total = new Uint32Array(inputElements(task));
      for (let n = 0; n < 3; n++) {
        const delta = new Float32Array(task.dimension).map(() => (unit() < 0.5 ? -9 : 9)); // clipped
        const exampleWeight = Math.max(1e-6, unit() ** 8);
        const randomWords = (drawn: Uint32Array) => void drawn.fill(unit() < 0.5 ? 0 : 0xffff_ffff);
        const built = buildInput(task, { delta, exampleWeight, randomWords });
        // A device refuses an update that its weight makes vanish; there is nothing to sum then.
        if (built.kind === 'refused') n--;
        else for (const [k, word] of built.vector.entries()) total[k] = (total[k] as number) + word;
      }
      expect(judgeSum(task, total, 3).kind).toBe('good');
    }
  });

  it('with its first coordinate out of range is quarantined', () => {
    expect(judged(3, 0, 0, 0, 3, 4)).toEqual({ kind: 'quarantine', why: 'coordinate 0 is out of range' });
    expect(judged(3, 0, 0, 0, 3, 3).kind).toBe('good');
  });
});
