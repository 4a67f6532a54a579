/** The tools of masking tests and of the baselines: Node's runtime with either kernel, and reproducible randomness. */

import { type AggregationTools, plainCombinationKernel } from '@basa/baselines';
import { type Keystream, type MaskTools, plainVectorKernel } from '@basa/masking';
import { type SumRules, sumRules } from '@basa/protocol/internal/wire/input.ts';
import {
  createNodeKeystream,
  createWasmCombinationKernel,
  createWasmVectorKernel,
  nodeSuite,
} from '@basa/runtime/node';
import { OneShotFederation, type OneShotOptions, randomBytesFrom } from '@basa/simulator';
import { nodeEnvironment, seededWords } from '@basa/simulator/node';

export function wasmTools(): MaskTools<Keystream> {
  const kernel = createWasmVectorKernel();
  if (kernel === undefined) throw new Error('this Node has no wasm SIMD');
  return { suite: nodeSuite, kernel, keystream: createNodeKeystream() };
}

export function plainTools(blockWords?: number): MaskTools<Keystream> {
  return { suite: nodeSuite, kernel: plainVectorKernel(blockWords), keystream: createNodeKeystream() };
}

/** A seed of 32 equal bytes: distinct for distinct numbers below 256. */
export function fixedSeed(byte: number): Uint8Array {
  return new Uint8Array(32).fill(byte);
}

/** A federation on Node. */
export function nodeFederation(options: OneShotOptions): OneShotFederation {
  return new OneShotFederation(nodeEnvironment, options);
}

/** The rules for the sums of a task, on version 0. */
export function rulesOf(options: OneShotOptions): SumRules {
  return sumRules(nodeFederation(options).policy, 0);
}

/** The tools of the baselines. */
export function seededTools(seed: number): AggregationTools {
  const combinations = createWasmCombinationKernel() ?? plainCombinationKernel();
  return { masks: wasmTools(), combinations, randomBytes: randomBytesFrom(seededWords(seed)) };
}
