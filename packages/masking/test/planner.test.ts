import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FIELD,
  type Modulus,
  modulusSize,
  type Planned,
  type PlanRequest,
  planQuantizer,
  quantizedBound,
  RING_32,
  ring,
} from '../src/index.ts';
import type { QuantizerPlan } from '../src/planner.ts';

const PAPER = { summands: 10, clip: 10, resolution: { level: 2 ** 16 } } as const;

describe('the planner', () => {
  it("accepts the paper's setting and proves it in numbers", () => {
    const plan = accepted({ ...PAPER, modulus: FIELD });
    expect(plan).toMatchObject({
      entryBound: 655_360,
      sumBound: 6_553_600,
      weightScale: 2 ** 16,
      worstError: 2 ** -16,
    });
    expect(plan.proof).toBe(
      '10 summands x entries up to 655360 = 6553600 <= 2147483645 = floor((q-1)/2), field 2^32-5',
    );
  });

  // Largest safe |Delta| by (q, K, c_l, c_g), from the no-overflow condition K c_g ceil(c_l D) <= (q-1)/2.
  it.each([
    [FIELD, 10, 2 ** 16, 1, 3276.8],
    [FIELD, 10, 2 ** 16, 2 ** 6, 51.2],
    [FIELD, 32, 2 ** 16, 1, 1024],
    [FIELD, 200, 2 ** 16, 1, 163.8],
    [FIELD, 10, 2 ** 24, 2 ** 6, 0.2],
  ])(
    'finds the largest clip of the published settings (%o, K=%d, c_l=%d, c_g=%d)',
    (modulus, summands, level, weightLimit, largest) => {
      const request = (clip: number): PlanRequest => ({ summands, clip, resolution: { level }, weightLimit, modulus });
      expect(planQuantizer(request(largest * 0.999)).kind).toBe('planned');
      expect(planQuantizer(request(largest * 1.001))).toMatchObject({ kind: 'refused', reason: 'could-wrap' });
    },
  );

  it('has an exact boundary: the largest accepted configuration cannot wrap, the next one can', () => {
    const cases = fc.record({
      summands: fc.integer({ min: 1, max: 5000 }),
      clip: fc.double({ min: 0.001, max: 100, noNaN: true }),
      weightLimit: fc.integer({ min: 1, max: 64 }),
      modulus: fc.constantFrom<Modulus>(RING_32, FIELD, ring(16), ring(20), ring(24)),
    });
    let boundaries = 0;
    fc.assert(
      fc.property(cases, (base) => {
        const level = largestAccepted((candidate) => planQuantizer({ ...base, resolution: { level: candidate } }));
        if (level === 0) return;
        boundaries++;
        expect(largestSum(base, level) * 2n).toBeLessThan(BigInt(modulusSize(base.modulus)));
        expect(largestSum(base, level + 1) * 2n).toBeGreaterThanOrEqual(BigInt(modulusSize(base.modulus)));
        expect(planQuantizer({ ...base, resolution: { level: level + 1 } }).kind).toBe('refused');
      }),
    );
    expect(boundaries).toBeGreaterThan(20);
  });

  it('says in its refusal what to change, and each remedy works', () => {
    const request: PlanRequest = { summands: 10, clip: 4, resolution: { level: 2 ** 16 }, modulus: ring(20) };
    const refusal = planQuantizer(request);
    if (refusal.kind !== 'refused') throw new Error('accepted');
    expect(refusal.sentence).toBe(
      'The sum could wrap around: 10 summands x entries up to 262144 = 2621440, but the ring 2^20 holds only +-524287. ' +
        'Either use a ring of at least 23 bits, or lower the level from 65536 to at most 13107, ' +
        'or lower the clip from 4 to at most 0.79998779296875, or sum at most 1 updates instead of 10.',
    );
    expect(planQuantizer({ ...request, modulus: ring(23) }).kind).toBe('planned');
    expect(planQuantizer({ ...request, modulus: ring(22) }).kind).toBe('refused');
    expect(planQuantizer({ ...request, resolution: { level: 13_107 } }).kind).toBe('planned');
    expect(planQuantizer({ ...request, clip: 0.79998779296875 }).kind).toBe('planned');
    expect(planQuantizer({ ...request, summands: 1 }).kind).toBe('planned');
  });

  it('picks the narrowest ring of 16, 20, 24 or 32 bits that holds the sum', () => {
    const bitsOf = (summands: number, level: number): number =>
      accepted({ summands, clip: 1, resolution: { level }, modulus: 'auto' }).bitsPerElement;
    expect([10, 32, 100].map((summands) => bitsOf(summands, 2 ** 15))).toEqual([20, 24, 24]);
    expect([bitsOf(10, 3276), bitsOf(10, 3277)]).toEqual([16, 20]);
    expect([bitsOf(256, 2 ** 15 - 1), bitsOf(256, 2 ** 15)]).toEqual([24, 32]);
  });

  it('turns bits of resolution into the finest level they hold', () => {
    const plan = accepted({ summands: 10, clip: 8, resolution: { bits: 16 } });
    expect(plan.level).toBe(4095);
    expect(plan.entryBound).toBeLessThanOrEqual(32_767);
    expect(quantizedBound({ level: plan.level + 1, clip: 8 })).toBeGreaterThan(32_767);
  });

  it('keeps the headroom free', () => {
    const request: PlanRequest = { summands: 3276, clip: 10, resolution: { level: 2 ** 16 } };
    expect(planQuantizer(request).kind).toBe('planned');
    expect(planQuantizer({ ...request, headroom: 1.001 })).toMatchObject({ kind: 'refused', reason: 'could-wrap' });
  });

  it.each<[Partial<PlanRequest>, string]>([
    [{ summands: 0 }, 'summands must be a positive integer, got 0'],
    [{ summands: 2.5 }, 'summands must be a positive integer, got 2.5'],
    [{ clip: Number.NaN }, 'clip must be a positive number, got NaN'],
    [{ resolution: { level: 0.5 } }, 'level must be a positive integer, got 0.5'],
    [{ resolution: { bits: 1 } }, 'bits must be from 2 to 32, got 1'],
    [{ weightLimit: -1 }, 'weightLimit must be a positive integer, got -1'],
    [{ headroom: 0.5 }, 'headroom must be at least 1, got 0.5'],
  ])('refuses %o and names the field', (change, sentence) => {
    expect(planQuantizer({ ...PAPER, ...change })).toEqual({ kind: 'refused', reason: 'invalid', sentence });
  });

  it('refuses bits that cannot hold one step to the unit', () => {
    const refusal = planQuantizer({ summands: 2, clip: 100, resolution: { bits: 4 } });
    expect(refusal).toMatchObject({ kind: 'refused', reason: 'too-coarse' });
  });
});

function accepted(request: PlanRequest): QuantizerPlan {
  const planned = planQuantizer(request);
  if (planned.kind === 'refused') throw new Error(planned.sentence);
  return planned.plan;
}

function largestAccepted(plan: (level: number) => Planned): number {
  let low = 0;
  let high = 2 ** 44;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (plan(middle).kind === 'planned') low = middle;
    else high = middle;
  }
  return low;
}

function largestSum(
  { summands, clip, weightLimit }: { summands: number; clip: number; weightLimit: number },
  level: number,
): bigint {
  return BigInt(summands) * BigInt(weightLimit) * BigInt(Math.ceil(level * clip));
}
