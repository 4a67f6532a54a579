/** The worker thread of a server: opens sums and evaluates models, so that the main thread can answer requests. */
import { workerData } from 'node:worker_threads';
import { plainVectorKernel } from '@basa/masking';
import { createWasmVectorKernel, serveWorker } from '@basa/runtime/node';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { openBodies } from '../../blobs/place.ts';
import { sumShard, type WorkerOptions, type WorkResult, type WorkTask } from './sum-shard.ts';

/** Made on demand: a server that never evaluates does not load the training engine. */
let kernel: ReturnType<typeof plainVectorKernel> | undefined;
let opened: Promise<BlobStore> | undefined;

serveWorker<WorkTask, WorkResult>(async (task) => {
  if (task.kind === 'evaluate') return (await import('./evaluate.ts')).evaluate(task, blobStore);
  kernel ??= createWasmVectorKernel() ?? plainVectorKernel();
  return sumShard(task, { kernel, blobs: await blobStore() });
});

function blobStore(): Promise<BlobStore> {
  opened ??= openBodies((workerData as WorkerOptions).bodies);
  return opened;
}
