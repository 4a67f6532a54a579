/** A thread that examines uploads and sums masks, so that the main thread can answer. It keeps no secret between two tasks. */
import { serveWorker } from '@basa/runtime/node';
import { maskTools, workOn } from './mask-work.ts';
import type { MaskResult, MaskTask } from './tasks.ts';

serveWorker<MaskTask, MaskResult>(
  (task) => workOn(task, maskTools),
  (result) => {
    if (result.kind === 'summed') return result.sums.map(({ buffer }) => buffer as ArrayBuffer);
    return result.kind === 'packed' ? [result.packed.buffer as ArrayBuffer] : [];
  },
);
