/** MNIST in virtual time with the settings of the demo: it learns, and what it has learnt stays. */
import { loadMnist } from '@basa/cli/internal/data/mnist.ts';
import {
  allSamples,
  createServerStep,
  createTrainer,
  logisticRegression,
  partitionByDirichlet,
  WeightedMean,
} from '@basa/learning';
import { OneShotScheme, Timeline } from '@basa/simulator';
import { wasmBackend } from '@basa/testkit/core/backends.ts';
import { expect, it } from 'vitest';
import { fleetOf, oneShotCosts } from './fleet.ts';

const COSTS = oneShotCosts({ device: 0.2, intake: 0.01, inspect: 0.02, release: 0.1, open: 0.2 });
const DEVICES = 24;
const FURTHER = 60;
/** A part of each share: it makes the test quicker. */
const EXAMPLES = 800;

it('reaches 88 % and goes on for 60 buffers without ever falling by more than 5 points', async () => {
  const { train, test } = await loadMnist();
  const { labels, classes } = train;
  const { users } = partitionByDirichlet({ labels, classes, users: DEVICES, alpha: 5, seed: 1 });
  const trainer = createTrainer(wasmBackend(logisticRegression()));
  const step = createServerStep({ kind: 'fedbuff', rate: 1 });
  const fleet = fleetOf(0.5, {
    users: DEVICES,
    concurrency: DEVICES,
    minimum: 8,
    dropouts: 0.08,
    versions: 'one',
    admission: { places: 20, minimum: 8 },
  });
  const timeline = new Timeline(fleet);
  const models = [trainer.init(1)];
  let [best, drop, sinceTarget] = [0, 0, 0];
  for (const event of timeline.run(new OneShotScheme(timeline, COSTS))) {
    if (event.kind !== 'version') continue;
    const mean = new WeightedMean(models[0]?.length ?? 0);
    for (const { trip } of event.included) {
      const samples = { dataset: train, indices: (users[trip.user] ?? new Uint32Array()).subarray(0, EXAMPLES) };
      const start = models[trip.version] as Float32Array;
      mean.add(trainer.train({ start, samples, batchSize: 32, learningRate: 0.1, seed: trip.number }).delta);
    }
    const next = (models.at(-1) as Float32Array).slice();
    step.applyInPlace(next, mean.take('weights'), event.meanAge);
    models.push(next);
    const { accuracy = Number.NaN } = trainer.evaluate(next, allSamples(test));
    best = Math.max(best, accuracy);
    drop = Math.max(drop, best - accuracy);
    if (best >= 0.88) sinceTarget++;
    if (sinceTarget > FURTHER || event.version > 120) break;
  }
  expect(sinceTarget).toBeGreaterThan(FURTHER);
  expect(100 * drop).toBeLessThan(5);
});
