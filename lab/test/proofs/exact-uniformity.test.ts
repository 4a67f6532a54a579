import { maskInput, type UserId, type UserSession } from '@basa/protocol';
import { Federation, granted, PaperFederation } from '@basa/simulator';
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';
import {
  equationOf,
  jointCounts,
  type MaskEquation,
  unevenSubsets,
  withoutSeeds,
} from '../../src/proofs/uniformity/enumeration.ts';

const user = (n: number): UserId => new Uint8Array(32).fill(n + 1) as UserId;

describe('in a tiny group, over every value of every mask,', () => {
  /** The mask plans of a full buffer of the real code, slot by slot; `self` names the self masks. */
  interface Plans {
    readonly equations: readonly MaskEquation[];
    readonly self: ReadonlySet<string>;
  }

  function paperPlans(K: number): Plans {
    const world = new PaperFederation(nodeEnvironment, { bufferSize: K });
    const equations = Array.from({ length: K }, (_, k) => {
      const prepared = world.prepare(user(k), [0, 0, 0, 0]);
      granted(world.upload(user(k), prepared));
      return equationOf(prepared.plan);
    });
    return { equations, self: new Set() };
  }

  function sealedPlans(K: number): Plans {
    const world = new Federation(nodeEnvironment, { bufferSize: K });
    const equations = Array.from({ length: K }, () => {
      const device = world.device();
      granted(device.contribute('key'));
      device.receiveKeyAndFreeze('upload');
      const masking = granted(maskInput(device.ports, device.session as UserSession, device.input as Uint32Array));
      return equationOf(masking.plan);
    });
    return { equations, self: new Set(equations.map(([first]) => first?.seed ?? '')) };
  }

  const SIZES = [
    [2, 2],
    [2, 5],
    [3, 2],
    [3, 3],
    [4, 2],
    [4, 3],
    [5, 2],
  ] as const;
  const positions = (K: number): number[] => Array.from({ length: K }, (_, l) => l);
  const someInputs = (K: number, q: number): number[] => positions(K).map((l) => (l * l + 1) % q);

  /** Every full set of values has the sum of the inputs, and each such set is equally likely. */
  function expectOnlyTheSum(counts: Uint32Array, inputs: readonly number[], q: number): void {
    const K = inputs.length;
    const sum = inputs.reduce((total, x) => total + x, 0) % q;
    const likely = q ** (K - 1);
    for (const [index, count] of counts.entries()) {
      let digits = 0;
      for (let rest = index, l = 0; l < K; l++, rest = Math.floor(rest / q)) digits += rest % q;
      expect(count).toBe(digits % q === sum ? counts.reduce((a, b) => a + b, 0) / likely : 0);
    }
  }

  it.each(SIZES)(
    'K = %d, q = %d: any proper subset of paper uploads is uniform, and all of them show the sum alone',
    (K, q) => {
      const { equations } = paperPlans(K);
      const counts = jointCounts(equations, someInputs(K, q), q);
      expect(unevenSubsets(counts, K, q)).toEqual([positions(K)]);
      expectOnlyTheSum(counts, someInputs(K, q), q);
    },
  );

  it.each(SIZES)('K = %d, q = %d: before close even all sealed uploads together are uniform', (K, q) => {
    const { equations } = sealedPlans(K);
    expect(unevenSubsets(jointCounts(equations, someInputs(K, q), q), K, q)).toEqual([]);
  });

  it.each(SIZES)(
    'K = %d, q = %d: after close any proper subset of sealed uploads is uniform, and all show the sum alone',
    (K, q) => {
      const { equations, self } = sealedPlans(K);
      const left = withoutSeeds(equations, (seed) => self.has(seed));
      const counts = jointCounts(left, someInputs(K, q), q);
      expect(unevenSubsets(counts, K, q)).toEqual([positions(K)]);
      expectOnlyTheSum(counts, someInputs(K, q), q);
    },
  );

  it.each([
    [3, 3],
    [4, 3],
    [5, 2],
  ])(
    'K = %d, q = %d: whichever slot drops out after its upload was seen, only the sum of the others comes out',
    (K, q) => {
      const { equations } = sealedPlans(K);
      for (const dropped of positions(K)) {
        const [self, ...edges] = equations[dropped] ?? [];
        const others = positions(K).filter((l) => l !== dropped);
        // Close releases the self masks of the others, and every edge of the slot that is left out.
        const released = new Set([...others.map((l) => equations[l]?.[0]?.seed), ...edges.map(({ seed }) => seed)]);
        expect(released.has(self?.seed)).toBe(false);
        const left = withoutSeeds(equations, (seed) => released.has(seed));
        const uneven = unevenSubsets(jointCounts(left, someInputs(K, q), q), K, q);
        expect(uneven).toHaveLength(2);
        expect(uneven).toEqual(expect.arrayContaining([others, positions(K)]));
      }
    },
  );

  it('without a self mask, a user whose earlier edges are known is exposed', () => {
    const { equations } = paperPlans(4);
    const last = equations[3] ?? [];
    const left = withoutSeeds(equations, (seed) => last.some((term) => term.seed === seed));
    expect(unevenSubsets(jointCounts(left, [1, 2, 0, 1], 3), 4, 3)).toContainEqual([3]);
  });

  it('a seed that is used for both edges of a user is detected', () => {
    const { equations, self } = sealedPlans(3);
    const [a, b] = (equations[0] ?? []).slice(1).map(({ seed }) => seed);
    const reused = withoutSeeds(equations, (seed) => self.has(seed)).map((equation) =>
      equation.map((term) => (term.seed === b ? { ...term, seed: a ?? '' } : term)),
    );
    // y0 = x0 + 2a: its parity is bare.
    expect(unevenSubsets(jointCounts(reused, [1, 0, 1], 2), 3, 2)).toContainEqual([0]);
  });
});
