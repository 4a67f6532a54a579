import { type Noise, noisySumBound, ring, toSigned } from '@basa/masking';
import { granted } from '@basa/protocol';
import { judgeCoordinates, judgeSum } from '@basa/protocol/internal/one-shot/sums.ts';
import { inputElements, type SumRules } from '@basa/protocol/internal/wire/input.ts';
import { type PrivacyPolicy, taskNoise } from '@basa/protocol/internal/wire/privacy.ts';
import { buildInput } from '@basa/protocol/one-shot';
import { policyProblem, TaskPolicy } from '@basa/protocol/policy';
import { seededWords } from '@basa/simulator/node';
import { nodeFederation, rulesOf } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { metricCode } from '../../src/wire/privacy.ts';

const PRIVACY: PrivacyPolicy = { noiseMultiplier: 1, colluders: 1, budget: { delta: 1e-6, participations: 3 } };
const DIMENSION = 16;
/** d = 16 and clip 1 need a level of at least 8. */
const PRIVATE = { bufferSize: 4, minimum: 4, dimension: DIMENSION, level: 8, privacy: PRIVACY };

const privateRules = (options: object = {}): SumRules => rulesOf({ ...PRIVATE, ...options });

function input(rules: SumRules, delta: Float32Array, more: object = {}): Int32Array {
  const built = buildInput(rules, { delta, randomWords: seededWords(3), ...more });
  if (built.kind === 'refused') throw new Error(built.reason);
  return Int32Array.from(built.vector, (residue) => toSigned(residue, rules.modulus));
}

describe('an update of a private task', () => {
  const zero = new Float32Array(DIMENSION);

  it('has noise of the planned variance on its coordinates, and no noise on the words around them', () => {
    const rules = privateRules({ dimension: 10_000, level: 200 });
    const vector = input(rules, new Float32Array(10_000));
    expect(Array.from(vector.subarray(0, 5))).toEqual([1, 0, 0, 0, rules.weightScale]);
    expect(Array.from(vector.subarray(-4))).toEqual([0, 0, 0, 0]);
    const coordinates = vector.subarray(5, -4);
    const variance = coordinates.reduce((sum, x) => sum + x * x, 0) / coordinates.length;
    // Of 10,000 draws the mean square is off by 1.4 % of itself on the average.
    expect(variance / (taskNoise(rules)?.variance ?? 0)).toBeCloseTo(1, 1);
  });

  it('says which norm it had', () => {
    const rules = privateRules();
    const built = (value: number) => buildInput(rules, { delta: zero.map(() => value), randomWords: seededWords(3) });
    expect(built(0.25)).toMatchObject({ kind: 'input', norm: 1 });
    expect(built(5)).toMatchObject({ kind: 'input', norm: 20 });
  });

  it('has noise on its metrics, of z sqrt(10 M) times half their range, and the mean shows through it', () => {
    const metrics = [
      { name: 'loss', low: 0, high: 4 },
      { name: 'accuracy', low: 0, high: 1 },
    ];
    const rules = privateRules({ bufferSize: 100, minimum: 100, metrics });
    const { scale, offset, variance = 0 } = metricCode(rules, 0);
    expect(scale).toBe(2 * offset);
    const honest = 100 - PRIVACY.colluders;
    expect(Math.sqrt(variance * honest)).toBeCloseTo(Math.sqrt(20) * offset, 6);
    const total = new Uint32Array(inputElements(rules));
    const words: number[] = [];
    for (let seed = 0; seed < 100; seed++) {
      const update = { delta: zero, metrics: { loss: 1, accuracy: 1 }, randomWords: seededWords(seed) };
      const built = buildInput(rules, update);
      if (built.kind === 'refused') throw new Error(built.reason);
      built.vector.forEach((word, k) => {
        total[k] = (total[k] as number) + word;
      });
      words.push(toSigned(built.vector[6] as number, rules.modulus) - offset);
    }
    const square = words.reduce((sum, word) => sum + word * word, 0) / words.length;
    expect(square / variance).toBeGreaterThan(0.6);
    expect(square / variance).toBeLessThan(1.5);
    const verdict = judgeSum(rules, total, 100);
    // The noise of a mean of 100 has a deviation of 2.2 % of the range.
    expect(verdict).toMatchObject({
      kind: 'good',
      metrics: { loss: expect.closeTo(1, 0), accuracy: expect.closeTo(1, 0) },
    });
    const far = total.slice();
    far[5] = 2 ** 20;
    expect(judgeSum(rules, far, 100)).toMatchObject({
      kind: 'quarantine',
      why: 'the sum of the metric loss is out of range',
    });
  });

  it('is clipped to the L2 norm as a whole', () => {
    const rules = privateRules({ dimension: 10_000, level: 2000 });
    const large = new Float32Array(10_000).fill(5);
    const [noisy, noise] = [input(rules, large), input(rules, new Float32Array(10_000))];
    const signal = noisy.subarray(5, -4).map((x, k) => x - (noise[5 + k] as number));
    const norm = Math.sqrt(signal.reduce((sum, x) => sum + x * x, 0));
    // The same words: the same noise, but for what rounding made of it.
    expect(norm).toBeGreaterThan(1990);
    expect(norm).toBeLessThan(2100);
  });

  it('counts 1 for every example weight: alpha depends only on staleness', () => {
    const rules = privateRules();
    expect(input(rules, zero, { exampleWeight: 0.25 })[4]).toBe(rules.weightScale);
    expect(
      input(
        privateRules({ privacy: undefined }),
        zero.map(() => 1),
        { exampleWeight: 0.25 },
      )[4],
    ).toBe(rules.weightScale / 4);
  });

  it('is summed with the noise of all devices, over the inputs that were fixed before the uploads', () => {
    const world = nodeFederation(PRIVATE);
    const inputs = Array.from({ length: 4 }, () => {
      const device = world.shooter();
      granted(device.contribute());
      return (device.own.input as Uint32Array).slice();
    });
    world.shots.inspect();
    const verdict = granted(world.shots.close(world.shots.form() as never));
    const expected = Array.from({ length: DIMENSION }, (_, k) =>
      inputs.reduce((sum, vector) => (sum + (vector[5 + k] as number)) % 2 ** 32, 0),
    );
    expect(verdict).toMatchObject({ kind: 'good', weightSum: 4 * 65_536 });
    expect('sum' in verdict && Array.from(verdict.sum)).toEqual(expected);
  });
});

describe('a sum of a private task', () => {
  it('is quarantined for a coordinate beyond ten deviations of its noise, and not within them', () => {
    const rules = privateRules({ modulus: ring(16) });
    const bound = noisySumBound(rules, taskNoise(rules) as Noise, 4);
    expect(bound).toBeGreaterThan(4 * 8);
    const updates = { accepted: 4, weightSum: 4 };
    const why = (...words: number[]) => judgeCoordinates(rules, new Uint32Array(words), updates)?.why;
    expect(why(bound, 2 ** 16 - bound)).toBeUndefined();
    expect(why(0, bound + 1)).toBe('coordinate 1 is out of range');
  });

  it('is quarantined for weights below the whole ones, because a private task has no example weights', () => {
    const rules = privateRules();
    const kindOf = (weights: number, of = rules) => {
      const total = new Uint32Array(inputElements(rules));
      total.set([4, 0, 0, 0, weights]);
      return judgeSum(of, total, 4).kind;
    };
    const all = 4 * rules.weightScale;
    expect([kindOf(all), kindOf(all - 4), kindOf(all - 5)]).toEqual(['good', 'good', 'quarantine']);
    expect(kindOf(4, { ...rules, privacy: undefined })).toBe('good');
  });
});

describe('a private policy', () => {
  const { policy } = nodeFederation(PRIVATE);
  const changed = (change: Partial<TaskPolicy>): string | undefined => policyProblem({ ...policy, ...change });

  it('can be used, and comes out of its bytes as it went in', () => {
    expect(policyProblem(policy)).toBeUndefined();
    expect(TaskPolicy.decode(TaskPolicy.encode(policy))).toEqual(policy);
    expect(TaskPolicy.decode(TaskPolicy.encode({ ...policy, privacy: undefined })).privacy).toBeUndefined();
  });

  it.each([
    ['the metric examples', { metrics: [{ name: 'examples', low: 0, high: 1 }] }, 'no metric "examples"'],
    ['z of 1 and no budget', { privacy: { ...PRIVACY, budget: undefined } }, 'needs a budget'],
    ['too many colluders', { privacy: { ...PRIVACY, colluders: 3 } }, 'does not tolerate 3 colluding devices'],
    ['a coarse level', { level: 7 }, 'too coarse'],
    ['too little noise for a discrete Gaussian', { privacy: { ...PRIVACY, noiseMultiplier: 0.1 } }, 'at least 4'],
    ['a ring that noise overflows', { modulus: ring(8) }, 'with their noise'],
    ['an invalid delta', { privacy: { ...PRIVACY, budget: { delta: 1, participations: 1 } } }, 'not below 1'],
    ['no participations', { privacy: { ...PRIVACY, budget: { delta: 1e-6, participations: 0 } } }, 'at least 1'],
    ['noise without end', { privacy: { ...PRIVACY, noiseMultiplier: 1e7 } }, 'above'],
  ])('with %s is refused', (_, change, sentence) => {
    expect(changed(change)).toContain(sentence);
  });
});
