/** The input that a device makes of an update. */
import { buildInput } from '@basa/protocol';
import { reasonOf } from '@basa/simulator';
import { rulesOf } from '@basa/testkit/core/tools.ts';
import { seededWords } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';

describe('an update', () => {
  const rules = rulesOf({ bufferSize: 3, dimension: 4 });
  const build = (delta: readonly number[], more: object = {}) =>
    buildInput(rules, { delta: Float32Array.from(delta), randomWords: seededWords(1), ...more });

  it('is weighted only by its examples, and has no word for its age', () => {
    const built = build([1, -1, 0, 0], { exampleWeight: 0.5 });
    expect(built.kind === 'input' && [...built.vector]).toEqual([
      1, 0, 0, 0, 32_768, 1, 4_294_967_295, 0, 0, 0, 0, 0, 0,
    ]);
  });

  it('that is too short or not finite is refused', () => {
    expect(reasonOf(build([1, 0, 0]))).toBe('wrong-length');
    expect(reasonOf(build([1, Number.NaN, 0, 0]))).toBe('not-finite');
  });
});

describe('the blocks of an update', () => {
  const LEVEL = 1024;
  const rules = rulesOf({ bufferSize: 3, dimension: 200, level: LEVEL });
  /** Ones with a stretch of something else. */
  const build = (value: number, [from, length]: readonly [number, number], more: object = {}, blockFloor = 0) => {
    const delta = new Float32Array(200).fill(1).fill(value, from, from + length);
    const of = { ...rules, blockFloor };
    return buildInput(of, { delta, randomWords: seededWords(1), ...more });
  };
  const blocks = [
    [0, 100],
    [100, 100],
  ];

  it('may not be zero after quantising, even if they were not zero before', () => {
    expect(reasonOf(build(0, [100, 100], { blocks }))).toBe('zero-block');
    expect(reasonOf(build(1e-12, [100, 100], { blocks }))).toBe('zero-block');
    expect(reasonOf(build(-1e-12, [0, 100], { blocks: [[0, 100]] }))).toBe('zero-block');
    expect(build(1e-12, [100, 99], { blocks }).kind).toBe('input');
    expect(build(0, [100, 100], { blocks: [[0, 100]] }).kind).toBe('input');
  });

  it('that are small are judged together: one of them may vanish, all of them may not', () => {
    const small = {
      blocks: [
        [0, 40],
        [40, 40],
      ],
    };
    expect(build(0, [40, 40], small).kind).toBe('input');
    expect(build(0, [0, 40], small).kind).toBe('input');
    expect(reasonOf(build(0, [0, 80], small))).toBe('zero-block');
  });

  it('are one block with all entries if the caller names none', () => {
    expect(reasonOf(build(0, [0, 200]))).toBe('zero-block');
    expect(build(0, [0, 199]).kind).toBe('input');
  });

  it('may not have a norm below the floor of the policy', () => {
    // 100 entries of 1/8: their norm is 1.25. Negative ones count as much.
    for (const value of [0.125, -0.125]) {
      expect(build(value, [100, 100], { blocks }, 1.25).kind).toBe('input');
      expect(build(value, [100, 100], { blocks }, 1.2501)).toMatchObject({
        reason: 'zero-block',
        detail: 'entries 100 to 199: norm 1.25, at least 1.2501 is needed',
      });
    }
    // The weight makes it smaller: what is judged is what is masked.
    expect(reasonOf(build(0.125, [100, 100], { blocks, exampleWeight: 0.5 }, 1))).toBe('zero-block');
  });

  it('of fewer than 64 entries are judged with their neighbours', () => {
    const weightsAndBiases = [
      [0, 90],
      [90, 10],
      [100, 90],
      [190, 10],
    ];
    expect(build(0, [90, 10], { blocks: weightsAndBiases }).kind).toBe('input');
    expect(build(0, [190, 10], { blocks: weightsAndBiases }).kind).toBe('input');
    const many = Array.from({ length: 20 }, (_, n) => [10 * n, 10]);
    expect(build(0, [0, 60], { blocks: many }).kind).toBe('input');
    expect(reasonOf(build(0, [0, 70], { blocks: many }))).toBe('zero-block');
    expect(build(0, [140, 60], { blocks: many }).kind).toBe('input');
    expect(reasonOf(build(0, [0, 10], { blocks: [[0, 10]] }))).toBe('zero-block');
  });

  it('of 64 entries and more are judged by themselves: no bias beside them excuses them', () => {
    for (const zero of [[0, 64] as const, [74, 64] as const]) {
      const blocks = [
        [0, 64],
        [64, 10],
        [74, 64],
        [138, 10],
      ];
      expect(reasonOf(build(0, zero, { blocks }))).toBe('zero-block');
    }
  });

  it('without entries are not zero; a block beyond the end of the update is an error of the caller', () => {
    expect(build(0, [0, 1], { blocks: [[1, 0]] }).kind).toBe('input');
    for (const wrong of [
      [150, 51],
      [-1, 10],
      [0.5, 10],
    ]) {
      expect(() => build(1, [0, 1], { blocks: [wrong] })).toThrow('no block of 200 entries');
    }
  });
});
