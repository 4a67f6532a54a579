/** The damped step on a quadratic, whose limits of stability are known: w(t+1) = w(t) - step * gain * w(t - age). */
import { describe, expect, it } from 'vitest';
import { createServerStep, dampingFactor, fedAdamStep, fedAvgStep, type ServerStep } from '../src/index.ts';

/** The largest step that converges with one-step gain 1 and constant age. */
function criticalStep(age: number): number {
  return 2 * Math.sin(Math.PI / (2 * (2 * age + 1)));
}

interface Descent {
  readonly gain?: number;
  /** The ages of the updates of one version. */
  readonly ages: readonly number[];
}

/** |w| at the end beside its largest value on the way. */
function descend(step: ServerStep, { gain = 1, ages }: Descent): { readonly end: number; readonly most: number } {
  const oldest = Math.max(...ages);
  const meanAge = ages.reduce((sum, age) => sum + age, 0) / ages.length;
  const models = Array.from({ length: oldest + 1 }, () => 1);
  const versions = 400 * (oldest + 1);
  let most = 1;
  for (let t = 0; t < versions && most < 1e9; t++) {
    const now = models.at(-1) as number;
    const mean = ages.reduce((sum, age) => sum + gain * (models.at(-1 - age) as number), 0) / ages.length;
    const w = Float32Array.of(now);
    step.applyInPlace(w, Float64Array.of(mean), meanAge);
    models.push(w[0] as number);
    most = Math.max(most, Math.abs(w[0] as number));
  }
  return { end: Math.max(...models.slice(-1 - oldest).map(Math.abs)), most };
}

const undamped = (rate: number): ServerStep => createServerStep({ kind: 'fedbuff', rate, damping: 'none' });

describe('an undamped step on updates of one age', () => {
  it.each([0, 1, 2, 3, 5, 20])('converges below the critical step and diverges above it, age %i', (age) => {
    expect(descend(undamped(0.95 * criticalStep(age)), { ages: [age] }).end).toBeLessThan(1e-3);
    expect(descend(undamped(1.05 * criticalStep(age)), { ages: [age] }).most).toBeGreaterThan(1e3);
  });
});

describe('ages that are spread out', () => {
  it.each([2, 5, 20])('allow a longer step than the same mean age in lockstep, mean %i', (mean) => {
    const ages = Array.from({ length: 2 * mean + 1 }, (_, age) => age);
    expect(descend(undamped(1.3 * criticalStep(mean)), { ages }).end).toBeLessThan(1e-3);
    expect(descend(undamped(8 * criticalStep(mean)), { ages }).most).toBeGreaterThan(1e3);
  });
});

describe('the default damping, 1 / (1 + mean age)', () => {
  it.each([0, 1, 2, 5, 20, 100, 500])('converges at every age with a gain of 1.5, age %i', (age) => {
    const step = createServerStep({ kind: 'fedbuff', rate: 1 });
    expect(descend(step, { gain: 1.5, ages: [age] }).end).toBeLessThan(0.05);
  });

  it('is necessary: with exponent 1/2, as in FedBuff, age 20 diverges', () => {
    const damped = (damping: number): ServerStep => createServerStep({ kind: 'fedbuff', rate: 1, damping });
    expect(descend(damped(0.5), { ages: [20] }).most).toBeGreaterThan(1e3);
    expect(descend(damped(1), { ages: [20] }).end).toBeLessThan(1e-3);
  });

  it('with momentum m converges while the gain is at most 1.2 (1 - m)', () => {
    for (const momentum of [0.5, 0.9]) {
      for (const age of [0, 2, 5, 20]) {
        const step = fedAvgStep({ rate: 1, momentum });
        expect(descend(step, { gain: 1.2 * (1 - momentum), ages: [age] }).end).toBeLessThan(0.05);
      }
    }
  });

  it('shortens the step of Adam as well, which would cancel a damped mean', () => {
    const moved = (meanAge: number): number => {
      const w = Float32Array.of(0);
      fedAdamStep({ rate: 1, adaptivity: 1e-6 }).applyInPlace(w, Float64Array.of(2), meanAge);
      return w[0] as number;
    };
    expect(moved(3) / moved(0)).toBeCloseTo(1 / 4, 6);
  });

  it('rejects an invalid age', () => {
    for (const age of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => dampingFactor(1, age)).toThrow('a mean age');
    }
    expect([dampingFactor('none', 7), dampingFactor(1, 3), dampingFactor(0.5, 3)]).toEqual([1, 0.25, 0.5]);
  });
});
