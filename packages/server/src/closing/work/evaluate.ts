/** How good a model is on held-out examples; loaded by a thread that is asked for it. */
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
import { createTrainingKernel } from '@basa/runtime/node';
import { type BlobStore, readWhole } from '../../blobs/blob-store.ts';
import type { Evaluated, EvaluateTask } from './tasks.ts';

const BATCH = 64;
/** Examples lie in memory: a few tasks at once, and not those of files that were replaced. */
const MAX_EVALUATORS = 4;

interface Evaluator {
  readonly trainer: Trainer;
  readonly samples: Samples;
}

const evaluators = new Map<string, Evaluator>();

export async function evaluate(
  { model, parameters, examples }: EvaluateTask,
  blobStore: () => Promise<BlobStore>,
): Promise<Evaluated> {
  const { trainer, samples } = evaluators.get(examples) ?? (await makeEvaluator(model, examples, await blobStore()));
  const { accuracy, loss } = trainer.evaluate(parameters, samples);
  return { kind: 'evaluated', accuracy, loss };
}

async function makeEvaluator(network: EvaluateTask['model'], examples: string, blobs: BlobStore): Promise<Evaluator> {
  const model = readModelJson(network);
  const kernel = createTrainingKernel();
  const engine =
    kernel === undefined ? createReferenceBackend(model, BATCH) : createKernelBackend(model, kernel, BATCH);
  const evaluator = {
    trainer: createTrainer(engine),
    samples: allSamples(decodeDataset(await readWhole(blobs, examples))),
  };
  const [oldest] = evaluators.keys();
  if (oldest !== undefined && evaluators.size >= MAX_EVALUATORS) evaluators.delete(oldest);
  evaluators.set(examples, evaluator);
  return evaluator;
}
