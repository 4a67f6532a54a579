/** The worker thread of a server: opens sums and evaluates models, away from the thread that answers requests. */
import { workerData } from 'node:worker_threads';
import type { Samples, Trainer } from '@basa/learning';
import {
  allSamples,
  createKernelEngine,
  createReferenceEngine,
  createTrainer,
  decodeDataset,
  readModelJson,
} from '@basa/learning';
import { plainVectorKernel } from '@basa/masking';
import {
  createNodeKeystream,
  createTrainingKernel,
  createWasmVectorKernel,
  nodeSuite,
  serveWorker,
} from '@basa/runtime/node';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { readWhole } from '../../blobs/blob-store.ts';
import { openBlobs } from '../../blobs/place.ts';
import type { OpenTermsTools } from './open-terms.ts';
import { openTerms } from './open-terms.ts';
import type { SumShardTools } from './sum-shard.ts';
import { sumShard } from './sum-shard.ts';
import type { Evaluated, EvaluateTask, WorkerOptions, WorkResult, WorkTask } from './tasks.ts';

const BATCH = 64;
/** Examples lie in memory: a few tasks at once, and not those of files that were replaced. */
const MAX_EVALUATORS = 4;

type OpeningTools = OpenTermsTools & SumShardTools;

/** Made when first asked for: a server that never evaluates has no engine, one that never opens has no pairings. */
let opening: Promise<OpeningTools> | undefined;
let opened: Promise<BlobStore> | undefined;
const evaluators = new Map<string, { readonly trainer: Trainer; readonly samples: Samples }>();

serveWorker<WorkTask, WorkResult>(async (task) => {
  if (task.kind === 'evaluate') return evaluate(task);
  opening ??= makeOpeningTools();
  const tools = await opening;
  return task.kind === 'open-terms' ? openTerms(task, tools) : sumShard(task, tools);
});

function blobStore(): Promise<BlobStore> {
  opened ??= openBlobs((workerData as WorkerOptions).blobs);
  return opened;
}

async function makeOpeningTools(): Promise<OpeningTools> {
  return {
    suite: nodeSuite,
    kernel: createWasmVectorKernel() ?? plainVectorKernel(),
    keystream: createNodeKeystream(),
    blobs: await blobStore(),
  };
}

async function evaluate({ model, parameters, examples }: EvaluateTask): Promise<Evaluated> {
  const { trainer, samples } = evaluators.get(examples) ?? (await makeEvaluator(model, examples));
  const { accuracy, loss } = trainer.evaluate(parameters, samples);
  return { kind: 'evaluated', accuracy, loss };
}

async function makeEvaluator(network: EvaluateTask['model'], examples: string) {
  const model = readModelJson(network);
  const kernel = createTrainingKernel();
  const engine = kernel === undefined ? createReferenceEngine(model, BATCH) : createKernelEngine(model, kernel, BATCH);
  const evaluator = {
    trainer: createTrainer(engine),
    samples: allSamples(decodeDataset(await readWhole(await blobStore(), examples))),
  };
  const [oldest] = evaluators.keys();
  if (oldest !== undefined && evaluators.size >= MAX_EVALUATORS) evaluators.delete(oldest);
  evaluators.set(examples, evaluator);
  return evaluator;
}
