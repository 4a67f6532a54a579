/**
 * Group normalisation of one image with a scale and a shift per channel. What belongs to a group is written to each
 * of its channels, so that the loops over pixels need not know about groups.
 */
import { sumRows } from './descent';

/** statistics: the mean of every channel's group, then 1 / sqrt(variance + epsilon) of it. */
export function groupNorm(
  to: usize,
  from: usize,
  statistics: usize,
  scale: usize,
  shift: usize,
  pixels: i32,
  channels: i32,
  groups: i32,
  epsilon: f64,
): void {
  const row = (<usize>channels) << 2;
  const spreads = statistics + row;
  memory.fill(statistics, 0, 2 * row);
  sumRows(statistics, from, pixels, channels);
  shareWithinGroups(statistics, channels, groups, pixels);
  sumSquares(spreads, from, statistics, pixels, channels);
  shareWithinGroups(spreads, channels, groups, pixels);
  for (let n: usize = 0; n < row; n += 4) {
    store<f32>(spreads + n, <f32>(1 / sqrt(<f64>load<f32>(spreads + n) + epsilon)));
  }
  const vectors = row & ~15;
  for (let p = 0; p < pixels; p++, from += row, to += row) {
    for (let n: usize = 0; n < vectors; n += 16) {
      const normal = f32x4.mul(f32x4.sub(v128.load(from + n), v128.load(statistics + n)), v128.load(spreads + n));
      v128.store(to + n, f32x4.add(f32x4.mul(normal, v128.load(scale + n)), v128.load(shift + n)));
    }
    for (let n = vectors; n < row; n += 4) {
      const normal = (load<f32>(from + n) - load<f32>(statistics + n)) * load<f32>(spreads + n);
      store<f32>(to + n, normal * load<f32>(scale + n) + load<f32>(shift + n));
    }
  }
}

/** Replaces each channel's sum by the mean over its group. */
function shareWithinGroups(sums: usize, channels: i32, groups: i32, pixels: i32): void {
  const size = channels / groups;
  for (let g = 0; g < groups; g++) {
    let sum: f64 = 0;
    for (let c = g * size; c < (g + 1) * size; c++) sum += <f64>load<f32>(sums + ((<usize>c) << 2));
    const mean = <f32>(sum / <f64>(pixels * size));
    for (let c = g * size; c < (g + 1) * size; c++) store<f32>(sums + ((<usize>c) << 2), mean);
  }
}

function sumSquares(to: usize, from: usize, means: usize, pixels: i32, channels: i32): void {
  const row = (<usize>channels) << 2;
  const vectors = row & ~15;
  for (let n: usize = 0; n < vectors; n += 16) {
    const mean = v128.load(means + n);
    let sum = f32x4.splat(0);
    for (let p = 0, at = from + n; p < pixels; p++, at += row) {
      const off = f32x4.sub(v128.load(at), mean);
      sum = f32x4.add(sum, f32x4.mul(off, off));
    }
    v128.store(to + n, sum);
  }
  for (let n = vectors; n < row; n += 4) {
    const mean = load<f32>(means + n);
    let sum: f32 = 0;
    for (let p = 0, at = from + n; p < pixels; p++, at += row) {
      const off = load<f32>(at) - mean;
      sum += off * off;
    }
    store<f32>(to + n, sum);
  }
}

/**
 * to = spread (scale dy - mean(scale dy) - normal mean(scale dy normal)), means over the group; adds to the gradients
 * of scale and shift. `work` has room for two words a channel.
 */
export function groupNormGradient(
  to: usize,
  gradient: usize,
  from: usize,
  statistics: usize,
  scale: usize,
  scaleGradient: usize,
  shiftGradient: usize,
  work: usize,
  pixels: i32,
  channels: i32,
  groups: i32,
): void {
  const row = (<usize>channels) << 2;
  const spreads = statistics + row;
  const sums = work;
  const products = work + row;
  memory.fill(work, 0, 2 * row);
  sumRows(sums, gradient, pixels, channels);
  sumProducts(products, gradient, from, statistics, pixels, channels);
  for (let n: usize = 0; n < row; n += 4) {
    const factor = load<f32>(scale + n);
    store<f32>(shiftGradient + n, load<f32>(shiftGradient + n) + load<f32>(sums + n));
    store<f32>(scaleGradient + n, load<f32>(scaleGradient + n) + load<f32>(products + n));
    store<f32>(sums + n, load<f32>(sums + n) * factor);
    store<f32>(products + n, load<f32>(products + n) * factor);
  }
  shareWithinGroups(sums, channels, groups, pixels);
  shareWithinGroups(products, channels, groups, pixels);
  const vectors = row & ~15;
  for (let p = 0; p < pixels; p++, from += row, gradient += row, to += row) {
    for (let n: usize = 0; n < vectors; n += 16) {
      const spread = v128.load(spreads + n);
      const normal = f32x4.mul(f32x4.sub(v128.load(from + n), v128.load(statistics + n)), spread);
      const own = f32x4.sub(f32x4.mul(v128.load(scale + n), v128.load(gradient + n)), v128.load(sums + n));
      v128.store(to + n, f32x4.mul(spread, f32x4.sub(own, f32x4.mul(normal, v128.load(products + n)))));
    }
    for (let n = vectors; n < row; n += 4) {
      const spread = load<f32>(spreads + n);
      const normal = (load<f32>(from + n) - load<f32>(statistics + n)) * spread;
      const own = load<f32>(scale + n) * load<f32>(gradient + n) - load<f32>(sums + n);
      store<f32>(to + n, spread * (own - normal * load<f32>(products + n)));
    }
  }
}

/** to[c] = sum over pixels of dy times the normalised input. */
function sumProducts(to: usize, gradient: usize, from: usize, statistics: usize, pixels: i32, channels: i32): void {
  const row = (<usize>channels) << 2;
  const vectors = row & ~15;
  for (let n: usize = 0; n < vectors; n += 16) {
    const mean = v128.load(statistics + n);
    const spread = v128.load(statistics + row + n);
    let sum = f32x4.splat(0);
    for (let p = 0, at = n; p < pixels; p++, at += row) {
      const normal = f32x4.mul(f32x4.sub(v128.load(from + at), mean), spread);
      sum = f32x4.add(sum, f32x4.mul(v128.load(gradient + at), normal));
    }
    v128.store(to + n, sum);
  }
  for (let n = vectors; n < row; n += 4) {
    let sum: f32 = 0;
    for (let p = 0, at = n; p < pixels; p++, at += row) {
      const normal = (load<f32>(from + at) - load<f32>(statistics + n)) * load<f32>(statistics + row + n);
      sum += load<f32>(gradient + at) * normal;
    }
    store<f32>(to + n, sum);
  }
}
