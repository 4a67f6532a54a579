/** One worker of `npm run lab -- learn`: its own kernel and its own view of the data. */
import { workerData } from 'node:worker_threads';
import {
  createKernelBackend,
  createReferenceBackend,
  createTrainer,
  type Evaluation,
  type TrainResult,
} from '@basa/learning';
import { createTrainingKernel, serveWorker } from '@basa/runtime/node';
import { openTask, type TaskName } from '@basa/virtual-time';

export type LearnRequest =
  | { readonly kind: 'train'; readonly user: number; readonly start: Float32Array; readonly seed: number }
  | { readonly kind: 'evaluate'; readonly parameters: Float32Array; readonly whole: boolean };

export type LearnAnswer = TrainResult | Evaluation;

const { name, seed, maxSamples, learningRate, leaf } = workerData as {
  name: TaskName;
  seed: number;
  maxSamples: number;
  learningRate: number | undefined;
  leaf: string | undefined;
};
const task = await openTask(name, seed, { leaf });
const kernel = createTrainingKernel();
const trainer = createTrainer(kernel ? createKernelBackend(task.model, kernel) : createReferenceBackend(task.model));

serveWorker<LearnRequest, LearnAnswer>((request) => {
  if (request.kind === 'evaluate') {
    return trainer.evaluate(request.parameters, request.whole ? task.wholeTest : task.quickTest);
  }
  const samples = task.samplesOf(request.user, maxSamples);
  const steps = Math.ceil(Math.min(samples.indices.length, maxSamples) / task.batchSize);
  return trainer.train({
    start: request.start,
    samples,
    steps,
    batchSize: task.batchSize,
    learningRate: learningRate ?? task.learningRate,
    seed: request.seed,
  });
});
