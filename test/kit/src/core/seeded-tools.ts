/** The tools of the baselines, with reproducible randomness. */
import { type AggregationTools, plainCombinationKernel } from '@basa/baselines';
import { createWasmCombinationKernel } from '@basa/runtime/node';
import { randomBytesFrom } from '@basa/simulator';
import { seededWords } from '@basa/simulator/node';
import { wasmTools } from './tools.ts';

export function seededTools(seed: number): AggregationTools {
  const combinations = createWasmCombinationKernel() ?? plainCombinationKernel();
  return { masks: wasmTools(), combinations, randomBytes: randomBytesFrom(seededWords(seed)) };
}
