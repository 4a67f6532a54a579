/** The two layers with weights, as calls of the kernel: convolutions image by image, dense layers batch by batch. */

import type { ModelLayer } from '../model/model.ts';
import type { Layout, Place, Stage } from './kernel-stage.ts';

export function denseStage({ tensors }: ModelLayer, layout: Layout, input: Place, output: Place): Stage {
  if (tensors === undefined) throw new Error('a dense layer without tensors');
  const { kernel, arena, panels } = layout;
  const weight = layout.parameters + 4 * tensors.weight.offset;
  const bias = layout.parameters + 4 * tensors.bias.offset;
  const weightGradient = layout.gradients + 4 * tensors.weight.offset;
  const biasGradient = layout.gradients + 4 * tensors.bias.offset;
  return {
    forward(count) {
      kernel.packColumns(panels, weight, input.words, output.words);
      kernel.fillRows(output.value, bias, count, output.words);
      kernel.multiply(count, output.words, input.words, input.value, panels, output.value);
    },
    backward(count) {
      const gradient = output.gradient as number;
      kernel.multiplyTransposed(output.words, input.words, count, gradient, input.value, weightGradient);
      kernel.sumRows(biasGradient, gradient, count, output.words);
      if (input.gradient === undefined) return;
      kernel.packRows(panels, weight, output.words, input.words);
      arena.clear(input.gradient, count * input.words);
      kernel.multiply(count, input.words, output.words, gradient, panels, input.gradient);
    },
  };
}

export function convolutionStage(entry: ModelLayer, layout: Layout, input: Place, output: Place): Stage {
  const { layer, tensors, input: from, output: to } = entry;
  if (layer.kind !== 'conv2d' || tensors === undefined) throw new Error('not a convolution');
  const { kernel, arena, panels, image } = layout;
  const { window, stride, padding } = layer;
  const taps = window ** 2;
  const pixels = to.height * to.width;
  const weight = layout.parameters + 4 * tensors.weight.offset;
  const bias = layout.parameters + 4 * tensors.bias.offset;
  const weightGradient = layout.gradients + 4 * tensors.weight.offset;
  const biasGradient = layout.gradients + 4 * tensors.bias.offset;
  const paddedWidth = from.width + 2 * padding;
  const { height, width, channels } = from;

  const padded = (row: number): number => {
    const source = input.value + 4 * row * input.words;
    if (padding === 0) return source;
    kernel.spreadImage(image, source, height, width, channels, padding, 1, height + 2 * padding, paddedWidth);
    return image;
  };

  /** The input gradient is a convolution of the output gradient, spread and padded, with the weights turned around. */
  const inputGradient = (target: number, source: number): void => {
    const [spreadHeight, spreadWidth] = [height + window - 1, width + window - 1];
    const pad = window - 1 - padding;
    kernel.spreadImage(image, source, to.height, to.width, to.channels, pad, stride, spreadHeight, spreadWidth);
    kernel.convolve(target, image, panels, height, width, channels, spreadWidth, to.channels, window, window, 1);
  };

  return {
    forward(count) {
      kernel.packColumns(panels, weight, taps * channels, to.channels);
      kernel.fillRows(output.value, bias, count * pixels, to.channels);
      for (let row = 0; row < count; row++) {
        const target = output.value + 4 * row * output.words;
        const source = padded(row);
        kernel.convolve(
          target,
          source,
          panels,
          to.height,
          to.width,
          to.channels,
          paddedWidth,
          channels,
          window,
          window,
          stride,
        );
      }
    },
    backward(count) {
      const gradient = output.gradient as number;
      for (let row = 0; row < count; row++) {
        kernel.convolveGradient(
          weightGradient,
          gradient + 4 * row * output.words,
          padded(row),
          to.height,
          to.width,
          to.channels,
          paddedWidth,
          channels,
          window,
          window,
          stride,
        );
      }
      kernel.sumRows(biasGradient, gradient, count * pixels, to.channels);
      if (input.gradient === undefined) return;
      kernel.packTurned(panels, weight, to.channels, taps, channels);
      arena.clear(input.gradient, count * input.words);
      for (let row = 0; row < count; row++) {
        inputGradient(input.gradient + 4 * row * input.words, gradient + 4 * row * output.words);
      }
    },
  };
}
