/** A policy at its limits: the last value that a task may have, and the first that it may not. */
import { RING_32 } from '@basa/masking';
import type { TaskPolicy } from '@basa/protocol';
import { policyProblem } from '@basa/protocol';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { sumBound } from '../../src/wire/privacy.ts';

const { policy } = nodeFederation({ bufferSize: 4, dimension: 4 });
const problemOf = (change: Partial<TaskPolicy>) => policyProblem({ ...policy, ...change });
const ROOT = { kind: 'polynomial', exponent: 0.5 } as const;

describe('a policy', () => {
  it.each<[string, Partial<TaskPolicy>]>([
    ['1,024 slots', { bufferSize: 1024 }],
    ['two slots', { bufferSize: 2, minimum: 2 }],
    ['all slots needed', { minimum: 4 }],
    ['one parameter', { dimension: 1 }],
    ['2^31 parameters', { dimension: 2 ** 31 }],
    ['leases of a millisecond', { uploadLeaseMs: 1, openMs: 1, closeMs: 1 }],
    ['a floor at the norm of the largest update', { blockFloor: 2 * policy.clip }],
    ['a staleness that changes nothing', { staleness: { kind: 'polynomial', exponent: 0 } }],
    ['weights down to 1/4', { staleness: ROOT, maxStaleness: 15 }],
    ['versions whose sum just fits', { modulus: RING_32, staleness: { kind: 'constant' }, maxStaleness: 2 ** 29 - 1 }],
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
    ['openMs must be', { openMs: 0 }],
    ['closeMs must be', { closeMs: 0 }],
    ['blockFloor', { blockFloor: 2.001 * policy.clip }],
    ['maxStaleness 15 is the largest that fits', { staleness: ROOT, maxStaleness: 16 }],
    ['maxStaleness 15 is the largest that fits', { staleness: ROOT, maxStaleness: 1000 }],
    ['is too large', { modulus: RING_32, staleness: { kind: 'constant' }, maxStaleness: 2 ** 29 }],
    ['cannot be written', { staleness: { kind: 'polynomial', exponent: 1e6 + 1 } }],
    ['cannot be written', { staleness: { kind: 'polynomial', exponent: -1 } }],
  ])('is refused with a reason: %s', (reason, change) => {
    expect(problemOf(change)).toContain(reason);
  });

  it('may have tiny weights where that is asked for by its name, up to the largest parameter', () => {
    const staleness = { kind: 'polynomial', exponent: 1e6 } as const;
    expect(problemOf({ staleness, maxStaleness: 1, unsafeTinyWeights: true })).toBeUndefined();
  });

  it('that is no policy at all is a fault of whoever made it, not a reason', () => {
    expect(() => problemOf({ metrics: undefined as never })).toThrow(TypeError);
  });
});

describe('a coordinate of a sum', () => {
  it('is as large as so many updates make it', () => {
    const task = { ...policy, level: 7 };
    expect(sumBound(task, 3)).toBe(3 * sumBound(task, 1));
    expect(sumBound(task, 1)).toBeGreaterThan(1);
  });
});
