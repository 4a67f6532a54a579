/** The tools of the baselines, with reproducible randomness. */
import { type AggregationTools, plainCombinationKernel } from '@basa/baselines';
import { createWasmCombinationKernel } from '@basa/runtime/node';
import { seededBytes } from './seeded-bytes.ts';
import { wasmTools } from './tools.ts';

export function seededTools(seed: number): AggregationTools {
  const combinations = createWasmCombinationKernel() ?? plainCombinationKernel();
  return { masks: wasmTools(), combinations, randomBytes: seededBytes(seed) };
}
