/** The worker thread of a server: opens sums and evaluates models, away from the thread that answers requests. */
import { readFile } from 'node:fs/promises';
import { createMclGroup } from '@basa/abe';
import type { Samples, Trainer } from '@basa/learning';
import {
  allSamples,
  createKernelEngine,
  createReferenceEngine,
  createTrainer,
  decodeDataset,
  defineModel,
} from '@basa/learning';
import { plainVectorKernel } from '@basa/masking';
import {
  createNodeKeystream,
  createTrainingKernel,
  createWasmVectorKernel,
  nodeSuite,
  serveWorker,
} from '@basa/runtime/node';
import { openFileBlobs } from '../blobs/files.ts';
import type { OpenSumTools } from './open-sum.ts';
import { openSum } from './open-sum.ts';
import type { Evaluated, EvaluateTask, ModelOptions, WorkResult, WorkTask } from './tasks.ts';

const BATCH = 64;
/** Examples lie in memory: a few tasks at once, and not those of files that were replaced. */
const MOST_EVALUATORS = 4;

/** Made when first asked for: a server that never evaluates has no engine, one that never opens has no pairings. */
let opening: Promise<Omit<OpenSumTools, 'blobs'>> | undefined;
const evaluators = new Map<string, { readonly trainer: Trainer; readonly samples: Samples }>();

serveWorker<WorkTask, WorkResult>(async (task) => {
  if (task.kind === 'evaluate') return evaluate(task);
  opening ??= makeOpeningTools();
  return openSum(task, { ...(await opening), blobs: await openFileBlobs(task.blobFolder) });
});

async function makeOpeningTools(): Promise<Omit<OpenSumTools, 'blobs'>> {
  return {
    suite: nodeSuite,
    kernel: createWasmVectorKernel() ?? plainVectorKernel(),
    keystream: createNodeKeystream(),
    group: await createMclGroup(),
  };
}

async function evaluate({ model, parameters, examples }: EvaluateTask): Promise<Evaluated> {
  const { trainer, samples } = evaluators.get(examples) ?? (await makeEvaluator(model, examples));
  const { accuracy, loss } = trainer.evaluate(parameters, samples);
  return { kind: 'evaluated', accuracy, loss };
}

async function makeEvaluator(options: ModelOptions, examples: string) {
  const model = defineModel(options.name ?? 'model', options.input, options.layers);
  const kernel = createTrainingKernel();
  const engine = kernel === undefined ? createReferenceEngine(model, BATCH) : createKernelEngine(model, kernel, BATCH);
  const evaluator = {
    trainer: createTrainer(engine),
    samples: allSamples(decodeDataset(await readFile(examples))),
  };
  const [oldest] = evaluators.keys();
  if (oldest !== undefined && evaluators.size >= MOST_EVALUATORS) evaluators.delete(oldest);
  evaluators.set(examples, evaluator);
  return evaluator;
}
