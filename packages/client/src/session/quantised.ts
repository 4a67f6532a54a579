/** An update as it is offered, and the integers made from it. */
import { type BuiltInput, buildInput } from '@basa/protocol/one-shot';
import type { SumRules } from '@basa/protocol/wire';
import type { DeviceContext } from './device-context.ts';

/** An update to offer. */
export interface Update {
  readonly delta: Float32Array;
  /** The version of the model it was trained on. */
  readonly trainedOn: number;
  /** In (0, 1]: its weight besides its staleness; 1 by default, and always in a task with noise. */
  readonly exampleWeight?: number;
  /** A number for each metric that the task names; it is clipped to its range, and only the mean is learned. */
  readonly metrics?: Readonly<Record<string, number>>;
}

/** The advice for an update on a version that this process was not shown. */
export function notSeen(version: number): string {
  return `this device has not fetched version ${version} recently; fetch the newest version with model() and train on it`;
}

/** Clipped, weighted and rounded by the rules of the sum, with the device's noise; reports the norm that it had. */
export function quantised(context: DeviceContext, rules: SumRules, update: Update): BuiltInput {
  const randomWords = (words: Uint32Array): void => fillWords(context, words);
  const built = buildInput(rules, { ...update, randomWords });
  if (built.kind === 'refused') return built;
  context.events.emit('quantized', { norm: built.norm, clip: rules.clip });
  return built;
}

export function fillWords({ outside }: DeviceContext, words: Uint32Array): void {
  const bytes = outside.randomBytes(words.byteLength);
  new Uint8Array(words.buffer, words.byteOffset, words.byteLength).set(bytes);
  bytes.fill(0);
}
