/** Learning as a whole: data, partition, trainer and server step together, on the real digits. */
import { loadMnist } from '@basa/cli/internal/data/mnist.ts';
import {
  agedWeight,
  allSamples,
  createTrainer,
  fedBuffStep,
  LOSSES,
  type LossName,
  logisticRegression,
  partitionByDirichlet,
  runPlainFedBuff,
} from '@basa/learning';
import { SCORE_OF_LOSS } from '@basa/protocol/internal/http/live.ts';
import { TASK_LOSSES } from '@basa/protocol/internal/wire/training.ts';
import { wasmBackend } from '@basa/testkit/core/backends.ts';
import { expect, it } from 'vitest';
import { FROZEN_DIGESTS, trainingDigests } from './training-digests.ts';

it('MNIST by plain FedBuff (1000 users, K = 10, 32 concurrent) reaches 80 % within 38 buffers', async () => {
  const { train, test } = await loadMnist();
  const { labels, classes } = train;
  const { users } = partitionByDirichlet({ labels, classes, users: 1000, alpha: 0.5, seed: 1 });
  const trainer = createTrainer(wasmBackend(logisticRegression()));
  const { metrics } = await runPlainFedBuff({
    start: trainer.init(1),
    users: 1000,
    concurrency: 32,
    bufferSize: 10,
    versions: 38,
    weightOf: agedWeight,
    step: fedBuffStep(1),
    seed: 1,
    delay: 3,
    train: ({ user, start, seed }) =>
      trainer.train({
        start,
        samples: { dataset: train, indices: users[user] ?? new Uint32Array() },
        batchSize: 10,
        learningRate: 0.03,
        seed,
      }),
    evaluate: (parameters) => trainer.evaluate(parameters, allSamples(test)),
    evaluateEvery: 19,
    target: 0.8,
  });
  expect(metrics.reached(0.8)?.version).toBeLessThanOrEqual(38);
  expect(metrics.summary().trips).toBeLessThanOrEqual(380);
});

it('the wasm backend trains to the same bits on every machine and in every runtime', () => {
  expect(trainingDigests()).toEqual(FROZEN_DIGESTS);
});

it('every loss that trainers know can be the loss of a task, and has the score that the server shows for it', () => {
  expect([...TASK_LOSSES].sort()).toEqual([...Object.keys(LOSSES), 'own'].sort());
  for (const [name, { judge }] of Object.entries(LOSSES)) {
    const judged = judge();
    judged.add(Float32Array.of(1), 0);
    expect(Object.keys(judged.scores())).toEqual([SCORE_OF_LOSS[name as LossName]]);
  }
});
