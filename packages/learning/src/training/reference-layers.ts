/** Every layer in plain Float64 loops, as its definition reads: one example at a time, nothing clever. */

import type { Layer } from '../model/layers.ts';
import type { ModelLayer } from '../model/model.ts';
import { exp } from '../numbers/exact-math.ts';

/** The parameters of a layer, or their gradients, as views. */
export interface Weights {
  readonly weight: Float64Array;
  readonly bias: Float64Array;
}

type Conv = Extract<Layer, { kind: 'conv2d' }>;
type Pool = Extract<Layer, { kind: 'maxPool' }>;
type Norm = Extract<Layer, { kind: 'groupNorm' }>;

/** Calls `visit` with the positions in input, output and weights of every product of a convolution. */
function eachProduct(
  { input, output }: ModelLayer,
  { window, stride, padding }: Conv,
  visit: (inputAt: number, outputAt: number, weightAt: number) => void,
): void {
  for (let y = 0; y < output.height; y++) {
    for (let x = 0; x < output.width; x++) {
      for (let o = 0; o < output.channels; o++) {
        const outputAt = (y * output.width + x) * output.channels + o;
        for (let ky = 0; ky < window; ky++) {
          const iy = y * stride + ky - padding;
          if (iy < 0 || iy >= input.height) continue;
          for (let kx = 0; kx < window; kx++) {
            const ix = x * stride + kx - padding;
            if (ix < 0 || ix >= input.width) continue;
            for (let c = 0; c < input.channels; c++) {
              const inputAt = (iy * input.width + ix) * input.channels + c;
              visit(inputAt, outputAt, ((o * window + ky) * window + kx) * input.channels + c);
            }
          }
        }
      }
    }
  }
}

export function convolve(entry: ModelLayer, layer: Conv, x: Float64Array, { weight, bias }: Weights): Float64Array {
  const { height, width, channels } = entry.output;
  const y = Float64Array.from({ length: height * width * channels }, (_, n) => bias[n % channels] as number);
  eachProduct(entry, layer, (i, o, w) => {
    y[o] = (y[o] as number) + (x[i] as number) * (weight[w] as number);
  });
  return y;
}

export function convolveBack(
  entry: ModelLayer,
  layer: Conv,
  x: Float64Array,
  dy: Float64Array,
  { weight }: Weights,
  gradient: Weights,
): Float64Array {
  const dx = new Float64Array(x.length);
  eachProduct(entry, layer, (i, o, w) => {
    dx[i] = (dx[i] as number) + (dy[o] as number) * (weight[w] as number);
    gradient.weight[w] = (gradient.weight[w] as number) + (dy[o] as number) * (x[i] as number);
  });
  const { channels } = entry.output;
  for (let n = 0; n < dy.length; n++) add(gradient.bias, n % channels, dy[n] as number);
  return dx;
}

export function multiply(x: Float64Array, { weight, bias }: Weights): Float64Array {
  return bias.map((start, o) => {
    let sum = start;
    for (let i = 0; i < x.length; i++) sum += (weight[o * x.length + i] as number) * (x[i] as number);
    return sum;
  });
}

export function multiplyBack(x: Float64Array, dy: Float64Array, { weight }: Weights, gradient: Weights): Float64Array {
  const dx = new Float64Array(x.length);
  for (let o = 0; o < dy.length; o++) {
    add(gradient.bias, o, dy[o] as number);
    for (let i = 0; i < x.length; i++) {
      add(dx, i, (weight[o * x.length + i] as number) * (dy[o] as number));
      add(gradient.weight, o * x.length + i, (dy[o] as number) * (x[i] as number));
    }
  }
  return dx;
}

/** The place of the largest word under each window; the first of equals. */
export function poolPlaces({ input, output }: ModelLayer, layer: Pool, x: Float64Array): Int32Array {
  const { window, stride, padding } = layer;
  const places = new Int32Array(output.height * output.width * output.channels);
  for (let n = 0; n < places.length; n++) {
    const c = n % output.channels;
    const left = (Math.floor(n / output.channels) % output.width) * stride - padding;
    const top = Math.floor(n / (output.channels * output.width)) * stride - padding;
    let best = -1;
    for (let iy = Math.max(0, top); iy < Math.min(input.height, top + window); iy++) {
      for (let ix = Math.max(0, left); ix < Math.min(input.width, left + window); ix++) {
        const at = (iy * input.width + ix) * input.channels + c;
        if (best < 0 || (x[at] as number) > (x[best] as number)) best = at;
      }
    }
    places[n] = best;
  }
  return places;
}

export function scatter(dy: Float64Array, places: Int32Array, length: number): Float64Array {
  const dx = new Float64Array(length);
  for (let n = 0; n < dy.length; n++) add(dx, places[n] as number, dy[n] as number);
  return dx;
}

/** The normalised words and 1 / deviation, per group. */
export function normalise({ input }: ModelLayer, { groups, epsilon }: Norm, x: Float64Array): Normalised {
  const size = input.channels / groups;
  const groupOf = (n: number): number => Math.floor((n % input.channels) / size);
  const count = x.length / groups;
  const means = new Float64Array(groups);
  for (let n = 0; n < x.length; n++) add(means, groupOf(n), (x[n] as number) / count);
  const variances = new Float64Array(groups);
  const off = x.map((value, n) => value - (means[groupOf(n)] as number));
  for (let n = 0; n < x.length; n++) add(variances, groupOf(n), (off[n] as number) ** 2 / count);
  const spreads = variances.map((variance) => 1 / Math.sqrt(variance + epsilon));
  return { normal: off.map((value, n) => value * (spreads[groupOf(n)] as number)), spreads, groupOf, count };
}

export interface Normalised {
  readonly normal: Float64Array;
  readonly spreads: Float64Array;
  readonly groupOf: (n: number) => number;
  readonly count: number;
}

export function scaleAndShift({ normal }: Normalised, { weight, bias }: Weights): Float64Array {
  return normal.map((value, n) => value * (weight[n % weight.length] as number) + (bias[n % bias.length] as number));
}

export function normaliseBack(
  { normal, spreads, groupOf, count }: Normalised,
  dy: Float64Array,
  { weight }: Weights,
  gradient: Weights,
): Float64Array {
  const means = new Float64Array(spreads.length);
  const products = new Float64Array(spreads.length);
  const scaled = dy.map((value, n) => value * (weight[n % weight.length] as number));
  for (let n = 0; n < dy.length; n++) {
    add(gradient.bias, n % weight.length, dy[n] as number);
    add(gradient.weight, n % weight.length, (dy[n] as number) * (normal[n] as number));
    add(means, groupOf(n), (scaled[n] as number) / count);
    add(products, groupOf(n), ((scaled[n] as number) * (normal[n] as number)) / count);
  }
  return scaled.map((value, n) => {
    const g = groupOf(n);
    return (spreads[g] as number) * (value - (means[g] as number) - (normal[n] as number) * (products[g] as number));
  });
}

export function softmaxBack(y: Float64Array, dy: Float64Array): Float64Array {
  const dot = y.reduce((sum, value, n) => sum + value * (dy[n] as number), 0);
  return y.map((value, n) => value * ((dy[n] as number) - dot));
}

export function sigmoidOf(x: Float64Array): Float64Array {
  return x.map((value) => 1 / (1 + exp(-value)));
}

function add(target: Float64Array, at: number, value: number): void {
  target[at] = (target[at] as number) + value;
}
