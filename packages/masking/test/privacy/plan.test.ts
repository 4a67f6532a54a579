import { noiseOf, noiseProblem, noisySumBound, planPrivate } from '@basa/masking';
import { describe, expect, it } from 'vitest';

function request(dimension: number, bufferSize: number, more: object = {}) {
  const minimum = Math.ceil(0.8 * bufferSize);
  const colluders = Math.floor(bufferSize / 10);
  const fixed = { clip: 1, noiseMultiplier: 1 };
  return { dimension, bufferSize, minimum, colluders, ...fixed, ...more };
}

function planned(dimension: number, bufferSize: number, more: object = {}) {
  const plan = planPrivate(request(dimension, bufferSize, more));
  if (plan.kind === 'refused') throw new Error(plan.sentence);
  return plan.plan;
}

describe('the plan of a private task', () => {
  it.each([
    [10, 17],
    [32, 18],
    [100, 19],
    [1000, 22],
  ])('at d = 1M and K = %d needs %d bits', (bufferSize, bits) => {
    expect(planned(1_000_000, bufferSize).neededBits).toBe(bits);
  });

  it('chooses the coarsest level that noise allows', () => {
    const { level, noise } = planned(7850, 100);
    expect(level).toBe(Math.ceil(2 * Math.sqrt(7850)));
    expect(noiseProblem({ ...request(7850, 100), level: level - 1 })).toContain(`at least ${level}`);
    expect(noise.honest).toBe(70);
    // If the noise is small, the level is finer, so that a device still adds at least 4 steps.
    const quiet = planned(16, 1000, { noiseMultiplier: 0.1 });
    expect(quiet.noise.deviation).toBeGreaterThanOrEqual(4);
    expect(quiet.noise.deviation).toBeLessThan(5);
  });

  it('leaves room for ten deviations of the noise', () => {
    const chosen = { ...request(1_000_000, 10), level: 2000 };
    const { deviation } = noiseOf(chosen);
    expect(noisySumBound(chosen, { deviation, isCentral: false }, 10)).toBe(
      20_000 + Math.ceil(10 * deviation * Math.sqrt(10)),
    );
  });

  it('draws central noise once, of the size that all devices would add together', () => {
    const chosen = { ...request(1_000_000, 10), level: 2000 };
    const central = { ...chosen, isCentral: true };
    const { deviation, honest } = noiseOf(central);
    expect(honest).toBe(1);
    expect(deviation ** 2).toBeCloseTo(noiseOf(chosen).variance * noiseOf(chosen).honest, 3);
    expect(noisySumBound(central, noiseOf(central), 10)).toBe(20_000 + Math.ceil(10 * deviation));
  });

  it('with noise of one party has the noise of one draw in a sum, for any number of colluders', () => {
    const chosen = { ...request(1_000_000, 10), level: 2000 };
    const [shared, central] = [noiseOf(chosen), noiseOf({ ...chosen, isCentral: true })];
    expect(central.honest).toBe(1);
    expect(central.deviation).toBeCloseTo(shared.deviation * Math.sqrt(shared.honest), 6);
    expect(noiseOf({ ...chosen, isCentral: true, colluders: 0 })).toEqual(central);
    expect(noisySumBound(chosen, central, 10)).toBe(20_000 + Math.ceil(10 * central.deviation));
    expect(noiseProblem({ ...chosen, isCentral: true, noiseMultiplier: 1e5 })).toContain(
      'the authority would add noise',
    );
  });

  it.each([
    [{ minimum: 80, colluders: 79 }, 'allow at most 78'],
    [{ noiseMultiplier: 1e5 }, 'at most 65536 can be drawn'],
    [{ noiseMultiplier: 0 }, 'noise must be'],
    [{ clip: Number.NaN }, 'clip must be'],
    [{ minimum: 101 }, 'minimum must be'],
    [{ dimension: 0 }, 'dimension must be'],
    [{ dimension: 2 ** 31, bufferSize: 1000, minimum: 2, colluders: 0, noiseMultiplier: 0.9 }, undefined],
    [{ bufferSize: 60_000_000, minimum: 40_000_000, noiseMultiplier: 4000 }, 'more than 32 bits hold'],
  ])('names the problem of %o', (more, sentence) => {
    const plan = planPrivate(request(7850, 100, more));
    if (sentence === undefined) expect(plan.kind).toBe('planned');
    else expect(plan).toMatchObject({ kind: 'refused', sentence: expect.stringContaining(sentence) });
  });

  it('asks for a finer level if a device would add too little noise for a discrete Gaussian', () => {
    const problem = noiseProblem({ ...request(16, 100, { noiseMultiplier: 0.1 }), level: 8 });
    expect(problem).toContain('at least 4 is needed');
  });
});
