/** A whole network as stages: some layers get memory of their own, others work in place. */

import { type Model, type ModelLayer, wordsOf } from '../model/model.ts';
import { stageInPlace } from './kernel-elementwise.ts';
import type { Layout, Place, Stage } from './kernel-stage.ts';
import { convolutionStage, denseStage } from './kernel-weights.ts';
import { normStage, poolStage } from './kernel-windows.ts';

/** The part of the words here that an earlier stage still needs for going backward: nothing, their sign, or all of it. */
type Kept = 'nothing' | 'sign' | 'value';

export function buildStages(
  model: Model,
  layout: Layout,
): { readonly stages: readonly Stage[]; readonly output: number; readonly gradient: number } {
  const stages: Stage[] = [];
  let place: Place = { words: wordsOf(model.input), value: layout.inputs, gradient: undefined };
  let kept: Kept = 'value'; // the batch itself is not written to
  for (const entry of model.layers) {
    if (entry.layer.kind === 'flatten') continue;
    const input = place;
    const { kind } = entry.layer;
    const inPlace = kind === 'relu' || kind === 'dropout' || kind === 'sigmoid' || kind === 'softmax';
    if (!inPlace) {
      place = freshPlace(entry, layout);
      stages.push(flushing(stageBetween(entry, layout, input, place), layout, input, place));
      kept = 'nothing';
      continue;
    }
    if (kept === 'value' || (kept === 'sign' && kind !== 'relu' && kind !== 'dropout')) {
      place = freshPlace(entry, layout);
      stages.push(copyStage(layout, input, place));
      kept = 'nothing';
    }
    stages.push(flushing(stageInPlace(entry, layout, place), layout, place, place));
    if (kind !== 'dropout') kept = kind === 'relu' ? 'sign' : 'value';
  }
  if (place.gradient === undefined) throw new RangeError(`${model.name} has no parameters`);
  return { stages, output: place.value, gradient: place.gradient };
}

/** Between layers, in both directions, values below 1e-18 become zero. */
function flushing(stage: Stage, { kernel }: Layout, input: Place, output: Place): Stage {
  return {
    forward(count, random) {
      stage.forward(count, random);
      kernel.flush(output.value, count * output.words);
    },
    backward(count) {
      stage.backward(count);
      if (input.gradient !== undefined) kernel.flush(input.gradient, count * input.words);
    },
  };
}

/** The words of shared scratch that the largest layer needs. */
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
