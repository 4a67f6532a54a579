/** Each layer of a network as two calls over addresses: forward and backward for the first `count` rows. */
import type { Arena } from './arena.ts';
import type { Generator } from './generator.ts';
import { convolutionStage, denseStage } from './kernel-weights.ts';
import type { Model, ModelLayer } from './model.ts';
import { wordsOf } from './model.ts';
import type { TrainingKernel } from './training-kernel.ts';

export interface Stage {
  /** Drops out only where `random` is given. */
  forward(count: number, random?: Generator): void;
  backward(count: number): void;
}

/** Where everything of a network lies. */
export interface Layout {
  readonly kernel: TrainingKernel;
  readonly arena: Arena;
  readonly batchCapacity: number;
  readonly inputs: number;
  readonly parameters: number;
  readonly gradients: number;
  /** Scratch that stages use one after the other: packed weights, and one padded image. */
  readonly panels: number;
  readonly image: number;
}

/** A layer's words before or after: their gradient is undefined where nobody before needs one. */
export interface Place {
  readonly words: number;
  readonly value: number;
  readonly gradient: number | undefined;
}

/** What a stage before still needs of the words here when going backward: nothing, their sign, or all of it. */
type Kept = 'nothing' | 'sign' | 'value';

export function buildStages(
  model: Model,
  layout: Layout,
): { readonly stages: readonly Stage[]; readonly output: number; readonly gradient: number } {
  const stages: Stage[] = [];
  let place: Place = { words: wordsOf(model.input), value: layout.inputs, gradient: undefined };
  let kept: Kept = 'nothing';
  for (const entry of model.layers) {
    if (entry.layer.kind === 'flatten') continue;
    const input = place;
    const { kind } = entry.layer;
    const inPlace = kind === 'relu' || kind === 'dropout' || kind === 'sigmoid' || kind === 'softmax';
    if (!inPlace) {
      place = freshPlace(entry, layout);
      stages.push(stageBetween(entry, layout, input, place));
      kept = 'nothing';
      continue;
    }
    if (kept === 'value' || (kept === 'sign' && kind !== 'relu' && kind !== 'dropout')) {
      place = freshPlace(entry, layout);
      stages.push(copyStage(layout, input, place));
    }
    stages.push(stageInPlace(entry, layout, place));
    if (kind !== 'dropout') kept = kind === 'relu' ? 'sign' : 'value';
  }
  if (place.gradient === undefined) throw new RangeError(`${model.name} has no parameters`);
  return { stages, output: place.value, gradient: place.gradient };
}

/** Words of the shared scratch the largest layer needs. */
export function scratchWords(model: Model): { readonly panels: number; readonly image: number } {
  let panels = 0;
  let image = 0;
  const upTo16 = (columns: number): number => 16 * Math.ceil(columns / 16);
  for (const { layer, input, output } of model.layers) {
    if (layer.kind !== 'dense' && layer.kind !== 'conv2d') continue;
    const window = layer.kind === 'conv2d' ? layer.window : 1;
    const taps = window ** 2;
    panels = Math.max(panels, taps * input.channels * upTo16(output.channels));
    panels = Math.max(panels, taps * output.channels * upTo16(input.channels));
    const around = (input.height + 2 * window) * (input.width + 2 * window);
    image = Math.max(image, around * Math.max(input.channels, output.channels));
  }
  return { panels, image };
}

function freshPlace({ output }: ModelLayer, { arena, batchCapacity }: Layout): Place {
  const words = wordsOf(output);
  return { words, value: arena.take(batchCapacity * words), gradient: arena.take(batchCapacity * words) };
}

function copyStage({ arena }: Layout, input: Place, output: Place): Stage {
  return {
    forward: (count) => arena.copy(output.value, input.value, count * input.words),
    backward(count) {
      if (input.gradient !== undefined) arena.copy(input.gradient, output.gradient as number, count * input.words);
    },
  };
}

function stageBetween(entry: ModelLayer, layout: Layout, input: Place, output: Place): Stage {
  switch (entry.layer.kind) {
    case 'conv2d':
      return convolutionStage(entry, layout, input, output);
    case 'dense':
      return denseStage(entry, layout, input, output);
    case 'maxPool':
      return poolStage(entry, layout, input, output);
    default:
      return normStage(entry, layout, input, output);
  }
}

function poolStage({ layer, input: from, output: to }: ModelLayer, layout: Layout, input: Place, output: Place): Stage {
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

function normStage(entry: ModelLayer, layout: Layout, input: Place, output: Place): Stage {
  const { layer, tensors, input: shape } = entry;
  if (layer.kind !== 'groupNorm' || tensors === undefined) throw new Error('not a group norm');
  const { kernel, arena, batchCapacity, parameters, gradients } = layout;
  const { channels } = shape;
  const pixels = shape.height * shape.width;
  const statistics = arena.take(batchCapacity * 2 * channels);
  const work = arena.take(2 * channels);
  const unused = arena.take(input.words); // gradients of the raw input, which nobody asks for
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

function stageInPlace({ layer }: ModelLayer, layout: Layout, place: Place): Stage {
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

/** Zero with probability `rate` (to 2^-32), else 1 / (1 - rate). Both engines draw the same factors. */
export function fillDropout(factors: Float32Array | Float64Array, rate: number, random: Generator): void {
  const kept = Math.fround(1 / (1 - rate));
  const limit = rate * 2 ** 32;
  for (let n = 0; n < factors.length; n++) factors[n] = random.u32() < limit ? 0 : kept;
}
