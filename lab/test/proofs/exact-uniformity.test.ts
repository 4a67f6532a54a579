import { granted, type UserId } from '@basa/protocol';
import { isHolder, taskParts } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { OneShotFederation, type OneShotOptions, PaperFederation } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';
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
  /** The mask plans of a full buffer of the real code. */
  function paperPlans(K: number): readonly MaskEquation[] {
    const world = new PaperFederation(nodeEnvironment, { bufferSize: K });
    return Array.from({ length: K }, (_, k) => {
      const prepared = world.prepare(user(k), [0, 0, 0, 0]);
      granted(world.upload(user(k), prepared));
      return equationOf(prepared.plan);
    });
  }

  /** The masks of the uploads of a batch that a server does not know if the authorities with these indices collude with it. */
  function oneShotPlans(K: number, options: Partial<OneShotOptions> = {}, colluding: readonly number[] = []) {
    const world = new OneShotFederation(nodeEnvironment, { bufferSize: K, ...options });
    const isOpened = taskParts(world.policy).map((part) => colluding.some((index) => isHolder(part, index)));
    return Array.from({ length: K }, () => {
      let equation: MaskEquation = [];
      const device = world.shooter();
      device.onMask = ({ plan }) => {
        equation = equationOf(plan).filter((_, n) => !isOpened[n]);
      };
      granted(device.contribute());
      return equation;
    });
  }

  /** Minus the sum of masks that the authorities release: together with the uploads it adds up to the sum of the inputs. */
  function withRelease(equations: readonly MaskEquation[]): readonly MaskEquation[] {
    return [...equations, equations.flat().map(({ seed }) => ({ seed, sign: -1 as const }))];
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
      const counts = jointCounts(paperPlans(K), someInputs(K, q), q);
      expect(unevenSubsets(counts, K, q)).toEqual([positions(K)]);
      expectOnlyTheSum(counts, someInputs(K, q), q);
    },
  );

  it.each(SIZES)('K = %d, q = %d: before a release all one-shot uploads of a batch together are uniform', (K, q) => {
    expect(unevenSubsets(jointCounts(oneShotPlans(K), someInputs(K, q), q), K, q)).toEqual([]);
  });

  it.each(SIZES)('K = %d, q = %d: uploads and released masks of a one-shot batch show the sum alone', (K, q) => {
    const inputs = [...someInputs(K, q), 0];
    const counts = jointCounts(withRelease(oneShotPlans(K)), inputs, q);
    expect(unevenSubsets(counts, K + 1, q)).toEqual([positions(K + 1)]);
    expectOnlyTheSum(counts, inputs, q);
  });

  it.each([0, 1, 2, 3])('one of four authorities that colludes changes nothing (authority %d)', (colluder) => {
    const council = { council: { authorities: 4, threshold: 3 }, tolerated: 1 };
    const equations = oneShotPlans(3, council, [colluder]);
    expect(equations.map(({ length }) => length)).toEqual([1, 1, 1]);
    const inputs = [...someInputs(3, 3), 0];
    const counts = jointCounts(withRelease(equations), inputs, 3);
    expect(unevenSubsets(counts, 4, 3)).toEqual([positions(4)]);
    expectOnlyTheSum(counts, inputs, 3);
  });

  it('a paper user whose edges are known is exposed', () => {
    const equations = paperPlans(4);
    const last = equations[3] ?? [];
    const left = withoutSeeds(equations, (seed) => last.some((term) => term.seed === seed));
    expect(unevenSubsets(jointCounts(left, [1, 2, 0, 1], 3), 4, 3)).toContainEqual([3]);
  });

  it('a seed that two one-shot uploads share is detected', () => {
    const equations = oneShotPlans(3);
    const [first] = equations;
    const reused = [first, first, equations[2]] as readonly MaskEquation[];
    expect(unevenSubsets(jointCounts(reused, [1, 0, 1], 3), 3, 3)).toContainEqual([0, 1]);
  });
});
