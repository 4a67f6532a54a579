/** The losses that trainers know, in one table: the kind of labels, the distance of outputs from them, and the score that fits. */
import { exp, ln } from '../numbers/exact-math.ts';
import { type Judge, judgeClasses, judgeNumbers } from './scores.ts';
import { softmaxOf } from './softmax.ts';

type Words = Float32Array | Float64Array;

interface LossRule {
  /** Labels are class numbers, or any numbers. */
  readonly labels: 'classes' | 'numbers';
  /** The number of classes that a network with this many outputs can predict. Undefined if the number of outputs is not valid. */
  classesOf(outputs: number): number | undefined;
  /** Sets `gradient` to the derivative of one example's loss by its outputs, and returns that loss. */
  learn(outputs: Words, label: number, gradient: Words): number;
  /** Computes how good outputs are, in numbers that people read. */
  judge(): Judge;
}

const ONE_OUTPUT = (outputs: number, classes: number): number | undefined => (outputs === 1 ? classes : undefined);

export const LOSSES = {
  /** One output for each class. */
  softmaxCrossEntropy: {
    labels: 'classes',
    classesOf: (outputs) => outputs,
    learn(outputs, label, gradient) {
      const shares = softmaxOf(Float64Array.from(outputs));
      for (let c = 0; c < shares.length; c++) gradient[c] = (shares[c] as number) - (c === label ? 1 : 0);
      return -ln(shares[label] as number);
    },
    judge: () => judgeClasses(bestClass),
  },
  /** One output, the logit of class 1; classes are 0 and 1. */
  binaryCrossEntropy: {
    labels: 'classes',
    classesOf: (outputs) => ONE_OUTPUT(outputs, 2),
    learn(outputs, label, gradient) {
      const logit = outputs[0] as number;
      const tail = exp(-Math.abs(logit));
      gradient[0] = (logit >= 0 ? 1 / (1 + tail) : tail / (1 + tail)) - label;
      return Math.max(logit, 0) - logit * label + ln(1 + tail);
    },
    judge: () => judgeClasses((outputs) => ((outputs[0] as number) > 0 ? 1 : 0)),
  },
  /** One output, and the square of its distance from the label. */
  mse: {
    labels: 'numbers',
    classesOf: (outputs) => ONE_OUTPUT(outputs, 1),
    learn(outputs, label, gradient) {
      const distance = (outputs[0] as number) - label;
      gradient[0] = 2 * distance;
      return distance * distance;
    },
    judge: judgeNumbers,
  },
} as const satisfies Readonly<Record<string, LossRule>>;

export type LossName = keyof typeof LOSSES;

export const DEFAULT_LOSS: LossName = 'softmaxCrossEntropy';

export function isLossName(name: string): name is LossName {
  return Object.hasOwn(LOSSES, name);
}

export function lossRule(name: LossName): LossRule {
  return LOSSES[name];
}

/** Views the labels of a batch in the given memory. */
export function labelsFor(loss: LossName, memory: ArrayBufferLike, at = 0, count?: number): Int32Array | Float32Array {
  return LOSSES[loss].labels === 'numbers' ? new Float32Array(memory, at, count) : new Int32Array(memory, at, count);
}

/** The loss of some rows of a batch and their part of the gradient of its mean, in plain code: the same bits on every machine. */
export function learnRows(
  { learn }: LossRule,
  {
    outputs,
    labels,
    gradient,
  }: { readonly outputs: Words; readonly labels: ArrayLike<number>; readonly gradient: Words },
  rows: number,
  width: number,
  batch: number,
): number {
  let loss = 0;
  for (let row = 0; row < rows; row++) {
    const [from, to] = [row * width, (row + 1) * width];
    const own = gradient.subarray(from, to);
    loss += learn(outputs.subarray(from, to), labels[row] as number, own);
    for (let n = 0; n < width; n++) own[n] = (own[n] as number) / batch;
  }
  return loss;
}

/** The class of the largest output, the first of equals. */
function bestClass(outputs: Words): number {
  let best = 0;
  for (let c = 1; c < outputs.length; c++) if ((outputs[c] as number) > (outputs[best] as number)) best = c;
  return best;
}
