/** Checks examples before anything trains on them: the error names a wrong example, its place and the remedy. */
import { type Model, wordsOf } from '../model/model.ts';
import { type LossName, lossRule } from '../training/losses.ts';
import type { Dataset } from './samples.ts';

/** Throws a `RangeError`. */
export function checkDataset(dataset: Dataset, model: Model, loss: LossName): void {
  const problem = shapeProblem(dataset, model) ?? labelProblem(dataset, model, loss) ?? inputProblem(dataset);
  if (problem !== undefined) throw new RangeError(`${dataset.name}: ${problem}`);
}

function shapeProblem({ shape, inputs, labels }: Dataset, { name, input }: Model): string | undefined {
  const [given, taken] = [shape, input].map(({ height, width, channels }) => `${height} x ${width} x ${channels}`);
  if (given !== taken)
    return `examples are ${given}, but ${name} takes ${taken}; change the data or the input of the model`;
  const words = wordsOf(shape);
  if (inputs.length === labels.length * words) return undefined;
  return `there are ${inputs.length} inputs, but ${labels.length} labels need ${words} inputs each; give every example that many`;
}

function labelProblem({ labels, classes }: Dataset, model: Model, loss: LossName): string | undefined {
  const rule = lossRule(loss);
  if (rule.labels === 'numbers') {
    const wrong = labels.findIndex((label) => !Number.isFinite(label));
    return wrong < 0 ? undefined : `example ${wrong} has the label ${labels[wrong]}; remove it, or give it a number`;
  }
  const most = rule.classesOf(model.classes) ?? 0;
  if (classes > most)
    return `there are ${classes} classes, but ${model.name} distinguishes only ${most}; change the data or the model`;
  const wrong = labels.findIndex((label) => !Number.isInteger(label) || label < 0 || label >= classes);
  if (wrong < 0) return undefined;
  return `example ${wrong} has the label ${labels[wrong]}, which is not a class from 0 to ${classes - 1}; if the labels are arbitrary numbers, use the loss mse`;
}

function inputProblem({ inputs, shape }: Dataset): string | undefined {
  if (inputs instanceof Uint8Array) return undefined;
  const wrong = inputs.findIndex((value) => !Number.isFinite(value));
  if (wrong < 0) return undefined;
  const words = wordsOf(shape);
  const place = `input ${wrong % words} of example ${Math.floor(wrong / words)}`;
  return `${place} is ${inputs[wrong]}; remove the example, or replace it with a finite number`;
}
