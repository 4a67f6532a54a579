/** Evaluates a model on held-out examples; a thread loads it on demand. */
import {
  allSamples,
  createKernelBackend,
  createReferenceBackend,
  createTrainer,
  decodeDataset,
  readModelJson,
  type Samples,
  type Trainer,
} from '@basa/learning';
import { Live } from '@basa/protocol/http';
import { createTrainingKernel } from '@basa/runtime/node';
import { type BlobStore, readWhole } from '../../blobs/blob-store.ts';
import type { Evaluated, EvaluateTask } from './sum-shard.ts';

const BATCH = 64;
/** Examples are kept in memory for a few tasks. Examples of replaced files are dropped. */
const MAX_EVALUATORS = 4;

interface Evaluator {
  readonly trainer: Trainer;
  readonly samples: Samples;
}

const evaluators = new Map<string, Evaluator>();

export async function evaluate(task: EvaluateTask, blobStore: () => Promise<BlobStore>): Promise<Evaluated> {
  const { trainer, samples } = evaluators.get(task.examples) ?? (await makeEvaluator(task, await blobStore()));
  const evaluation = trainer.evaluate(task.parameters, samples);
  return { kind: 'evaluated', loss: evaluation.loss, ...Live.scoresIn(evaluation) };
}

async function makeEvaluator({ model: network, loss, examples }: EvaluateTask, blobs: BlobStore): Promise<Evaluator> {
  const model = readModelJson(network);
  const options = { batchCapacity: BATCH, loss };
  const kernel = createTrainingKernel();
  const engine =
    kernel === undefined ? createReferenceBackend(model, options) : createKernelBackend(model, kernel, options);
  const evaluator = {
    trainer: createTrainer(engine),
    samples: allSamples(decodeDataset(await readWhole(blobs, examples))),
  };
  const [oldest] = evaluators.keys();
  if (oldest !== undefined && evaluators.size >= MAX_EVALUATORS) evaluators.delete(oldest);
  evaluators.set(examples, evaluator);
  return evaluator;
}
