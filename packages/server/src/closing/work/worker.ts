/** The worker thread of a server: opens sums and evaluates models, so that the main thread can answer requests. */
import { workerData } from 'node:worker_threads';
import { plainVectorKernel } from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite, serveWorker } from '@basa/runtime/node';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { openBodies } from '../../blobs/place.ts';
import { type OpenTermsTools, openTerms } from './open-terms.ts';
import { type SumShardTools, sumShard } from './sum-shard.ts';
import type { WorkerOptions, WorkResult, WorkTask } from './tasks.ts';

type OpeningTools = OpenTermsTools & SumShardTools;

/**
 * Made on demand: a server that never evaluates does not load the training engine, and a server that never opens sums does not load
 * pairings.
 */
let opening: Promise<OpeningTools> | undefined;
let opened: Promise<BlobStore> | undefined;

serveWorker<WorkTask, WorkResult>(async (task) => {
  if (task.kind === 'evaluate') return (await import('./evaluate.ts')).evaluate(task, blobStore);
  opening ??= makeOpeningTools();
  const tools = await opening;
  return task.kind === 'open-terms' ? openTerms(task, tools) : sumShard(task, tools);
});

function blobStore(): Promise<BlobStore> {
  opened ??= openBodies((workerData as WorkerOptions).bodies);
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
