/** What the adversary knows of pictures takes noise out of a row: the linear filter with the least error for pictures like the public ones. */
import type { Samples } from '@basa/learning';
import { PIXELS, pictureOf } from './pictures.ts';

/** The row may be one picture as long as the clip, or share it with others. */
const SHARES = [1, 0.7, 0.5];
const STEPS = 10;
const ENOUGH = 1e-9;

/** Returns the guesses for a row whose coordinates have noise of this deviation, in clips. */
export function pictureFilter({ dataset, indices }: Samples): (row: Float32Array, noise: number) => Float32Array[] {
  const mean = new Float32Array(PIXELS);
  const pictures = Array.from(indices, (n) => {
    const picture = pictureOf(dataset, n);
    const length = Math.hypot(...picture);
    return picture.map((value) => value / length);
  });
  for (const picture of pictures)
    for (const [k, value] of picture.entries()) mean[k] = (mean[k] as number) + value / pictures.length;
  const spread = new Float32Array(PIXELS ** 2);
  for (const picture of pictures) {
    const off = picture.map((value, k) => value - (mean[k] as number));
    for (let a = 0; a < PIXELS; a++) addTo(spread.subarray(a * PIXELS), off, (off[a] as number) / pictures.length);
  }
  const spreadOf = (x: Float32Array): Float32Array =>
    x.map((_, a) => dot(spread.subarray(a * PIXELS, (a + 1) * PIXELS), x));
  return (row, noise) =>
    SHARES.map((share) => {
      const sign = Math.sign(dot(row, mean)) || 1;
      const wanted = row.map((value, k) => (sign * value) / share - (mean[k] as number));
      const solved = solve(
        (x) => spreadOf(x).map((value, k) => value + (noise / share) ** 2 * (x[k] as number)),
        wanted,
      );
      return spreadOf(solved).map((value, k) => value + (mean[k] as number));
    });
}

/** Conjugate gradients. */
function solve(apply: (x: Float32Array) => Float32Array, wanted: Float32Array): Float32Array {
  const x = new Float32Array(wanted.length);
  let rest = wanted;
  let direction = wanted;
  for (let step = 0; step < STEPS; step++) {
    const before = dot(rest, rest);
    if (before < ENOUGH) break;
    const applied = apply(direction);
    const along = before / dot(direction, applied);
    addTo(x, direction, along);
    rest = rest.map((value, k) => value - along * (applied[k] as number));
    const turn = dot(rest, rest) / before;
    direction = rest.map((value, k) => value + turn * (direction[k] as number));
  }
  return x;
}

function addTo(sum: Float32Array, some: Float32Array, times: number): void {
  for (let n = 0; n < some.length; n++) sum[n] = (sum[n] as number) + times * (some[n] as number);
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let n = 0; n < a.length; n++) sum += (a[n] as number) * (b[n] as number);
  return sum;
}
