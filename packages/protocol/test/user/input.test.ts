/** The input that a device makes of an update. */
import { CLIPPED } from '@basa/protocol/internal/wire/training.ts';
import { buildInput } from '@basa/protocol/one-shot';
import { reasonOf } from '@basa/simulator';
import { seededWords } from '@basa/simulator/node';
import { rulesOf } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

describe('an update', () => {
  const rules = rulesOf({ bufferSize: 3, dimension: 4, level: 4 });
  const build = (delta: readonly number[], more: object = {}) =>
    buildInput(rules, { delta: Float32Array.from(delta), randomWords: seededWords(1), ...more });

  it('is weighted only by its examples, and has no word for its age', () => {
    const built = build([0.5, -0.5, 0, 0], { exampleWeight: 0.5 });
    expect(built.kind === 'input' && [...built.vector]).toEqual([
      1, 0, 0, 0, 32_768, 1, 4_294_967_295, 0, 0, 0, 0, 0, 0,
    ]);
  });

  it('of another length is refused, and no other', () => {
    expect(reasonOf(build([1, 0, 0]))).toBe('wrong-length');
    for (const delta of [
      [0, 0, 0, 0],
      [1e-30, 0, 0, 0],
      [1, Number.NaN, 0, 0],
      [Number.NEGATIVE_INFINITY, 1, 1, 1],
    ])
      expect(build(delta).kind).toBe('input');
  });

  it('that is not finite is sent as zeros', () => {
    const words = (delta: readonly number[]) => {
      const built = build(delta);
      return built.kind === 'input' && [...built.vector];
    };
    expect(words([1, Number.NaN, 0, 0])).toEqual(words([0, 0, 0, 0]));
  });

  it('tells whether it was clipped, whatever its application says', () => {
    const of = { ...rules, clip: 1, metrics: [CLIPPED] };
    const word = (delta: readonly number[]) => {
      const update = { delta: Float32Array.from(delta), randomWords: seededWords(1), metrics: { clipped: 0.5 } };
      const built = buildInput(of, update);
      return built.kind === 'input' && built.vector[5];
    };
    expect(word([1, 0, 0, 0])).toBe(0);
    expect(word([1, 0.5, 0, 0])).toBe(rules.weightScale);
    expect(word([Number.NaN, 9, 9, 9])).toBe(0); // it counts as zeros
  });

  it('reports the low end of a range for a metric that is missing or no number, and the nearest end for one beyond it', () => {
    const of = { ...rules, metrics: [{ name: 'loss', low: -1, high: 1 }] };
    const word = (metrics: Record<string, number>) => {
      const built = buildInput(of, { delta: new Float32Array(4), randomWords: seededWords(1), metrics });
      return built.kind === 'input' && built.vector[5];
    };
    for (const metrics of [{}, { loss: Number.NaN }, { loss: Number.NEGATIVE_INFINITY }, { loss: -5 }])
      expect(word(metrics as Record<string, number>)).toBe(0);
    expect(word({ loss: Number.POSITIVE_INFINITY })).toBe(rules.weightScale);
  });
});
