/** The fast backend: a network laid out in one arena of a `TrainingKernel`, and the calls that run it. */

import { type Model, wordsOf } from '../model/model.ts';
import type { RandomStream } from '../numbers/random-stream.ts';
import { Arena } from './arena.ts';
import type { Backend, BackendOptions, Descent } from './backend.ts';
import { clipScale } from './clip.ts';
import { buildStages, scratchWords } from './kernel-network.ts';
import type { Stage } from './kernel-stage.ts';
import { DEFAULT_LOSS, labelsFor, learnRows, lossRule } from './losses.ts';
import type { TrainingKernel } from './training-kernel.ts';

/** Takes exclusive use of the kernel. */
export function createKernelBackend(
  model: Model,
  kernel: TrainingKernel,
  { batchCapacity = 32, loss = DEFAULT_LOSS }: BackendOptions = {},
): Backend {
  const arena = new Arena(kernel);
  const words = model.dimension;
  const parameters = arena.take(words);
  const gradients = arena.take(words);
  const velocity = arena.take(words);
  const inputs = arena.take(batchCapacity * wordsOf(model.input));
  const labels = arena.take(batchCapacity);
  const scratch = scratchWords(model);
  const network = buildStages(model, {
    kernel,
    arena,
    batchCapacity,
    inputs,
    parameters,
    gradients,
    panels: arena.take(scratch.panels),
    image: arena.take(scratch.image),
  });
  arena.reserve();

  const forward = (count: number, random?: RandomStream): void => {
    kernel.flush(inputs, count * wordsOf(model.input));
    for (const stage of network.stages) stage.forward(count, random);
  };
  const outputWords = batchCapacity * model.classes;
  const rows = {
    outputs: arena.floats(network.output, outputWords),
    labels: labelsFor(loss, arena.memory.buffer, labels, batchCapacity),
    gradient: arena.floats(network.gradient, outputWords),
  };
  // The other losses have one output per example: plain code is fast enough for them.
  const lossOf = (count: number, batch: number): number => {
    const { gradient, output } = network;
    const { classes } = model;
    const sum =
      loss === 'softmaxCrossEntropy'
        ? kernel.softmaxCrossEntropy(gradient, output, labels, count, classes, 1 / batch)
        : learnRows(lossRule(loss), rows, count, classes, batch);
    kernel.flush(gradient, count * classes);
    return sum;
  };

  return {
    name: kernel.name,
    model,
    loss,
    batchCapacity,
    inputs: arena.floats(inputs, batchCapacity * wordsOf(model.input)),
    labels: rows.labels,
    outputs: rows.outputs,
    setParameters(values) {
      arena.floats(parameters, words).set(values);
      kernel.flush(parameters, words);
    },
    readParameters: (target) => target.set(arena.floats(parameters, words)),
    readGradients: (target) => target.set(arena.floats(gradients, words)),
    rest: () => arena.clear(velocity, words),
    run(count) {
      forward(count);
      return lossOf(count, count);
    },
    learn(count, random, { batch = count, adds = false } = {}) {
      if (!adds) arena.clear(gradients, words);
      forward(count, random);
      const sum = lossOf(count, batch);
      backward(network.stages, count);
      kernel.flush(gradients, words);
      return sum;
    },
    descend({ learningRate, momentum, weightDecay, clipNorm }: Descent) {
      const scale = clipNorm === undefined ? 1 : clipScale(kernel.squaredNorm(gradients, words), clipNorm);
      kernel.descend(parameters, gradients, velocity, words, learningRate, momentum, weightDecay, scale);
      kernel.flush(parameters, words);
      kernel.flush(velocity, words);
    },
  };
}

function backward(stages: readonly Stage[], count: number): void {
  for (let index = stages.length - 1; index >= 0; index--) stages[index]?.backward(count);
}
