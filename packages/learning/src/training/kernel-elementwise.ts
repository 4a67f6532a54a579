/** The layers that work in place: activations and dropout. */

import type { ModelLayer } from '../model/model.ts';
import { fillDropout } from './dropout-factors.ts';
import type { Layout, Place, Stage } from './kernel-stage.ts';

export function stageInPlace({ layer }: ModelLayer, layout: Layout, place: Place): Stage {
  const { kernel } = layout;
  const { words, value } = place;
  const backward = (run: (gradient: number, count: number) => void) => (count: number) => {
    if (place.gradient !== undefined) run(place.gradient, count);
  };
  switch (layer.kind) {
    case 'relu':
      return {
        forward: (count) => kernel.relu(value, count * words),
        backward: backward((gradient, count) => kernel.reluGradient(gradient, value, count * words)),
      };
    case 'sigmoid':
      return {
        forward: (count) => kernel.sigmoid(value, count * words),
        backward: backward((gradient, count) => kernel.sigmoidGradient(gradient, value, count * words)),
      };
    case 'softmax':
      return {
        forward: (count) => kernel.softmax(value, count, words),
        backward: backward((gradient, count) => kernel.softmaxGradient(gradient, value, count, words)),
      };
    case 'dropout':
      return dropoutStage(layer.rate, layout, place);
    default:
      throw new Error(`${layer.kind} does not work in place`);
  }
}

function dropoutStage(
  rate: number,
  { kernel, arena, batchCapacity }: Layout,
  { words, value, gradient }: Place,
): Stage {
  const factors = arena.take(batchCapacity * words);
  return {
    forward(count, random) {
      if (random === undefined) return;
      fillDropout(arena.floats(factors, count * words), rate, random);
      kernel.multiplyElements(value, factors, count * words);
    },
    backward(count) {
      if (gradient !== undefined) kernel.multiplyElements(gradient, factors, count * words);
    },
  };
}
