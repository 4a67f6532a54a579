/** Pooling and normalising as calls of the kernel, image by image. */

import type { ModelLayer } from '../model/model.ts';
import type { Layout, Place, Stage } from './kernel-stage.ts';

export function poolStage(
  { layer, input: from, output: to }: ModelLayer,
  layout: Layout,
  input: Place,
  output: Place,
): Stage {
  if (layer.kind !== 'maxPool') throw new Error('not a pool');
  const { kernel, arena, batchCapacity } = layout;
  const places = arena.take(batchCapacity * output.words);
  const { window, stride, padding } = layer;
  return {
    forward(count) {
      for (let row = 0; row < count; row++) {
        const at = 4 * row * output.words;
        const source = input.value + 4 * row * input.words;
        const { height, width, channels } = from;
        kernel.maxPool(
          output.value + at,
          places + at,
          source,
          height,
          width,
          channels,
          to.height,
          to.width,
          window,
          stride,
          padding,
        );
      }
    },
    backward(count) {
      if (input.gradient === undefined) return;
      for (let row = 0; row < count; row++) {
        const at = 4 * row * output.words;
        const target = input.gradient + 4 * row * input.words;
        kernel.maxPoolGradient(target, places + at, (output.gradient as number) + at, input.words, output.words);
      }
    },
  };
}

export function normStage(entry: ModelLayer, layout: Layout, input: Place, output: Place): Stage {
  const { layer, tensors, input: shape } = entry;
  if (layer.kind !== 'groupNorm' || tensors === undefined) throw new Error('not a group norm');
  const { kernel, arena, batchCapacity, parameters, gradients } = layout;
  const { channels } = shape;
  const pixels = shape.height * shape.width;
  const statistics = arena.take(batchCapacity * 2 * channels);
  const work = arena.take(2 * channels);
  const unused = arena.take(input.words); // gradients of the raw input, which nothing uses
  const [scale, shift] = [tensors.weight.offset, tensors.bias.offset].map((offset) => 4 * offset) as [number, number];
  return {
    forward(count) {
      for (let row = 0; row < count; row++) {
        kernel.groupNorm(
          output.value + 4 * row * output.words,
          input.value + 4 * row * input.words,
          statistics + 8 * row * channels,
          parameters + scale,
          parameters + shift,
          pixels,
          channels,
          layer.groups,
          layer.epsilon,
        );
      }
    },
    backward(count) {
      for (let row = 0; row < count; row++) {
        kernel.groupNormGradient(
          input.gradient === undefined ? unused : input.gradient + 4 * row * input.words,
          (output.gradient as number) + 4 * row * output.words,
          input.value + 4 * row * input.words,
          statistics + 8 * row * channels,
          parameters + scale,
          gradients + scale,
          gradients + shift,
          work,
          pixels,
          channels,
          layer.groups,
        );
      }
    },
  };
}
