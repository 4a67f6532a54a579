/** A thread that examines uploads and sums masks, so that the main thread can answer. It keeps no secret between two tasks. */
import { plainVectorKernel } from '@basa/masking';
import { withKem } from '@basa/runtime/kem';
import { createNodeKeystream, createWasmVectorKernel, nodeSuite, serveWorker } from '@basa/runtime/node';
import { workOn } from './mask-work.ts';
import type { MaskResult, MaskTask } from './tasks.ts';

const tools = {
  suite: withKem(nodeSuite),
  kernel: createWasmVectorKernel() ?? plainVectorKernel(),
  keystream: createNodeKeystream(),
};

serveWorker<MaskTask, MaskResult>(
  (task) => workOn(task, tools),
  (result) => {
    if (result.kind === 'summed') return result.sums.map(({ buffer }) => buffer as ArrayBuffer);
    return result.kind === 'packed' ? [result.packed.buffer as ArrayBuffer] : [];
  },
);
