/** When a run has its target: by the mean of its last three evaluations, not by one lucky look. */
import type { Trainer } from '@basa/learning';
import { trainOrder } from '@basa/simulator/virtual-time';
import { expect, it } from 'vitest';
import { tinyTask, tinyTrainer } from './tiny-task.ts';

/** A trainer that is as accurate as the list says, and trains nothing. */
function scripted(accuracies: readonly number[]): Trainer {
  let look = 0;
  return {
    ...tinyTrainer,
    evaluate: () => ({ accuracy: accuracies[look++] ?? 0, loss: 0, samples: 1 }),
    train: ({ start }) => ({ delta: new Float32Array(start.length), samples: 1, loss: 0 }),
  };
}

async function reachedBy(accuracies: readonly number[], evaluations: number): Promise<number | undefined> {
  const order = accuracies.map((_, trip) => [{ user: 1, trip, trainedOn: 0, weight: 1 }]);
  const run = {
    order,
    seed: 1,
    maxExamples: 1,
    step: { rate: 1, momentum: 0 },
    target: 0.8,
    evaluations,
    parties: () => [],
    partiesEvery: 1,
  };
  return (await trainOrder(run, tinyTask, scripted(accuracies))).reached;
}

const COURSE = [0.2, 0.9, 0.5, 0.7, 0.8, 0.86, 0.75, 0.9];

it('one lucky evaluation is not the target', async () => {
  expect(await reachedBy(COURSE, 1)).toBe(2);
  expect(await reachedBy(COURSE, 3)).toBe(7);
});

it('three evaluations are needed, even if the first two are good', async () => {
  expect(await reachedBy([1, 1], 3)).toBeUndefined();
  expect(await reachedBy([1, 1, 0.5], 3)).toBe(3);
});
