/** FedBuff (Nguyen et al. 2022, Algorithm 1 and section 3) in numbers that were computed with pencil and paper. */
import { agedWeight, createServerStep, WeightedMean } from '@basa/learning';
import { expect, it } from 'vitest';

it('s(tau) = 1 / sqrt(1 + tau) is 1, 1/2 and 1/3 at the ages 0, 3 and 8', () => {
  expect([0, 3, 8].map((tau) => agedWeight(tau))).toEqual([1, 0.5, 1 / 3]);
});

it('a buffer of K = 2 with the updates 2 (age 0) and 4 (age 3) moves w = 10 by eta_g (1 * 2 + 1/2 * 4) / 2 = 2 eta_g', () => {
  const mean = new WeightedMean(1);
  mean.add(Float32Array.of(2), agedWeight(0));
  mean.add(Float32Array.of(4), agedWeight(3));
  const parameters = Float32Array.of(10);
  createServerStep({ kind: 'fedbuff', rate: 0.5, damping: 'none' }).applyInPlace(parameters, mean.take('count'));
  expect([...parameters]).toEqual([9]);
});

it('momentum 1/2 with the means 2 and 1 moves w = 10 by 2 and then by 1/2 * 2 + 1 = 2', () => {
  const step = createServerStep({ kind: 'fedavg', rate: 1, momentum: 0.5, damping: 'none' });
  const parameters = Float32Array.of(10);
  step.applyInPlace(parameters, Float64Array.of(2));
  expect([...parameters]).toEqual([8]);
  step.applyInPlace(parameters, Float64Array.of(1));
  expect([...parameters]).toEqual([6]);
});
