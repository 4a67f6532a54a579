/** What the baselines run on, with randomness that repeats. */
import { type AggregationTools, plainCombinationKernel } from '@basa/baselines';
import { createWasmCombinationKernel } from '@basa/runtime/node';
import { seededWords } from '@basa/virtual-time/simulation';
import { wasmTools } from './tools.ts';

export function seededTools(seed: number): AggregationTools {
  const words = seededWords(seed);
  const randomBytes = (length: number): Uint8Array => {
    const drawn = new Uint32Array(Math.ceil(length / 4));
    words(drawn);
    return new Uint8Array(drawn.buffer, 0, length).slice();
  };
  const combinations = createWasmCombinationKernel() ?? plainCombinationKernel();
  return { masks: wasmTools(), combinations, randomBytes };
}
