/** One training step of each model of the paper on made-up data, for the benchmark and its workers. */
import {
  createKernelBackend,
  fedmlCifarCnn,
  femnistCnn,
  flsimCnn,
  initialParameters,
  logisticRegression,
  type Model,
  randomStream,
} from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';
import { drawExamples } from '@basa/testkit/core/backends.ts';

export const BATCH = 32;

export const MODELS = {
  logistic: logisticRegression(),
  femnist: femnistCnn(),
  flsim: flsimCnn(),
  cifar: fedmlCifarCnn(),
} as const;

export type ModelName = keyof typeof MODELS;

/** Forward, backward and descent over one batch. */
export function trainingStep(model: Model, relaxed = false): (() => void) | undefined {
  const kernel = createTrainingKernel({ equalBits: !relaxed });
  if (kernel === undefined || kernel.name.includes('relaxed') !== relaxed) return undefined;
  const backend = createKernelBackend(model, kernel, { batchCapacity: BATCH });
  const random = randomStream(1, 'bench');
  backend.setParameters(initialParameters(model, 1));
  drawExamples(backend, random);
  return () => {
    backend.learn(BATCH, random);
    backend.descend({ learningRate: 1e-3, momentum: 0, weightDecay: 0 });
  };
}

/** Multiply-adds of one example's step: forward, the gradient of weights, and that of inputs after the first layer. */
export function stepMultiplyAdds(model: Model): number {
  let isFirst = true;
  let total = 0;
  for (const { output, tensors, layer } of model.layers) {
    if (tensors === undefined || layer.kind === 'groupNorm') continue;
    const products = output.height * output.width * tensors.weight.length;
    total += products * (isFirst ? 2 : 3);
    isFirst = false;
  }
  return total;
}

/** A matrix product of a convenient size: the speed of the kernel under ideal conditions. */
export function gemmCeiling(): { readonly run: () => void; readonly multiplyAdds: number } | undefined {
  const kernel = createTrainingKernel();
  if (kernel === undefined) return undefined;
  const [m, n, k] = [240, 192, 512];
  const a = kernel.start;
  const b = a + 4 * m * k;
  const c = b + 4 * k * n;
  const random = randomStream(1, 'gemm');
  const words = new Float32Array(kernel.reserve(4 * (m * k + k * n + m * n)), a, m * k + k * n);
  words.forEach((_, index) => {
    words[index] = random.unit() - 0.5;
  });
  return { run: () => void kernel.multiply(m, n, k, a, b, c), multiplyAdds: m * n * k };
}
