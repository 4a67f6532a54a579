/** A policy at its limits: the last value that a task may have, and the first that it may not. */
import { ByteWriter, RING_32, ring, signedCapacity } from '@basa/masking';
import { DEFAULT_TRAINING } from '@basa/protocol/internal/wire/training.ts';
import { ENGINE, policyProblem, type TaskPolicy } from '@basa/protocol/policy';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { privacyField, privacyProblem, sumBound } from '../../src/wire/privacy.ts';

const { policy: shot } = nodeFederation({ bufferSize: 4, dimension: 4 });
/** Of paper mode, whose limits are the narrower ones. */
const policy: TaskPolicy = { ...shot, engine: ENGINE.cpAbe, oneShot: undefined };
const problemOf = (change: Partial<TaskPolicy>) => policyProblem({ ...policy, ...change });
const ROOT = { kind: 'polynomial', exponent: 0.5 } as const;
const MIXED = { versions: 'unsafeMixed' } as const;

describe('a policy', () => {
  it.each<[string, Partial<TaskPolicy>]>([
    ['1,024 positions', { bufferSize: 1024 }],
    ['two positions', { bufferSize: 2, minimum: 2 }],
    ['all positions needed', { minimum: 4 }],
    ['one parameter', { dimension: 1 }],
    ['2^31 parameters', { dimension: 2 ** 31 }],
    ['leases of a millisecond', { uploadLeaseMs: 1 }],
    ['a staleness that changes nothing', { ...MIXED, staleness: { kind: 'polynomial', exponent: 0 } }],
    ['any maximum age with one version a buffer', { maxStaleness: 2 ** 32 - 1 }],
    ['weights down to 1/4', { ...MIXED, staleness: ROOT, maxStaleness: 15 }],
    ['versions whose sum just fits', { ...MIXED, modulus: RING_32, maxStaleness: 2 ** 29 - 1 }],
  ])('may have %s', (_, change) => {
    expect(problemOf(change)).toBeUndefined();
  });

  it.each<[string, Partial<TaskPolicy>]>([
    ['bufferSize must be from 2 to 1024, got 1025', { bufferSize: 1025 }],
    ['bufferSize must be', { bufferSize: 1, minimum: 1 }],
    ['bufferSize must be', { bufferSize: 3.5, minimum: 2 }],
    ['minimum must be from 2 to bufferSize (4), got 5', { minimum: 5 }],
    ['minimum must be', { minimum: 1 }],
    ['minimum must be', { minimum: 2.5 }],
    ['dimension must be', { dimension: 0 }],
    ['dimension must be', { dimension: 1.5 }],
    ['dimension must be', { dimension: 2 ** 31 + 1 }],
    ['uploadLeaseMs must be', { uploadLeaseMs: 0 }],
    ['staleness must be constant with one version per buffer', { staleness: ROOT, maxStaleness: 15 }],
    ['maxStaleness 15 is the largest that fits', { ...MIXED, staleness: ROOT, maxStaleness: 16 }],
    ['maxStaleness 15 is the largest that fits', { ...MIXED, staleness: ROOT, maxStaleness: 1000 }],
    ['is too large', { ...MIXED, modulus: RING_32, maxStaleness: 2 ** 29 }],
    ['cannot be written', { staleness: { kind: 'polynomial', exponent: 1e6 + 1 } }],
    ['cannot be written', { staleness: { kind: 'polynomial', exponent: -1 } }],
    ['cannot be written', { name: new Uint8Array(100) }],
    ['cannot be written', { uploadLeaseMs: 2 ** 40 }],
    ['cannot be written', { clip: -0 }],
    ['cannot be written', { clip: Number.NaN }],
    ['cannot be written', { training: { ...DEFAULT_TRAINING, epochs: 0 } }],
    ['cannot be written', { training: { ...DEFAULT_TRAINING, epochs: 65_536 } }],
    ['cannot be written', { training: { ...DEFAULT_TRAINING, batchSize: 0 } }],
    ['cannot be written', { training: { ...DEFAULT_TRAINING, learningRate: 0 } }],
    ['cannot be written', { training: { ...DEFAULT_TRAINING, learningRate: Number.POSITIVE_INFINITY } }],
    ['cannot be written', { training: { ...DEFAULT_TRAINING, loss: 'another' as 'own' } }],
  ])('is refused with a reason: %s', (reason, change) => {
    expect(problemOf(change)).toContain(reason);
  });

  it('that is not a policy throws an error and gives no reason', () => {
    expect(() => problemOf({ metrics: undefined as never })).toThrow(TypeError);
  });
});

describe('a coordinate of a sum', () => {
  it('is as large as its number of updates requires', () => {
    const task = { ...policy, level: 7 };
    expect(sumBound(task, 3)).toBe(3 * sumBound(task, 1));
    expect(sumBound(task, 1)).toBeGreaterThan(1);
  });
});

describe('a private task', () => {
  it('may fill its group to the last number, and no further', () => {
    const privacy = { noiseMultiplier: 1, colluders: 1, budget: { delta: 1e-6, participations: 1 } };
    const noisy = { ...policy, minimum: 4, level: 50, modulus: ring(16), privacy };
    const capacity = signedCapacity(noisy.modulus);
    const withNoise = (noiseMultiplier: number) => ({ ...noisy, privacy: { ...privacy, noiseMultiplier } });
    const reached = (noiseMultiplier: number) => sumBound(withNoise(noiseMultiplier), noisy.bufferSize);
    // The bound is an integer that rises with the noise: bisection finds the point at which it is the capacity.
    let [low, high] = [0.1, 1000];
    while (reached(low) < capacity) {
      const middle = (low + high) / 2;
      if (reached(middle) <= capacity) low = middle;
      else high = middle;
    }
    expect(reached(low)).toBe(capacity);
    expect(privacyProblem(withNoise(low))).toBeUndefined();
    expect(privacyProblem(withNoise(low * 1.01))).toContain(`the group holds ${capacity}`);
  });

  it('may have up to a million times its sensitivity as noise', () => {
    const written = (noiseMultiplier: number) =>
      privacyField.write(new ByteWriter(), {
        noiseMultiplier,
        colluders: 1,
        budget: { delta: 1e-6, participations: 1 },
      });
    expect(() => written(1e6)).not.toThrow();
    expect(() => written(1e6 + 1)).toThrow('above 1000000');
  });
});
