/**
 * Convolutions of one image without im2col: in NHWC the words under one row of the window lie side by side, so a
 * tile reads them where they are, window row by window row.
 */
import { columnsTile, rowsTile, WIDTH } from './tile';

/** Words of the window worked on at a time, and pixels of a weight gradient. Both fix the order of additions. */
const WINDOW_BLOCK: i32 = 512;
const PIXEL_BLOCK: i32 = 128;

/**
 * Copies an image into a larger one of zeros, `pad` from its top and left, with `stride` - 1 zeros between neighbours:
 * the padding of a convolution's input (stride 1), and the output gradient of a strided one.
 */
export function spreadImage(
  to: usize,
  from: usize,
  height: i32,
  width: i32,
  channels: i32,
  pad: i32,
  stride: i32,
  toHeight: i32,
  toWidth: i32,
): void {
  const pixel = (<usize>channels) << 2;
  memory.fill(to, 0, <usize>(toHeight * toWidth) * pixel);
  for (let y = 0; y < height; y++) {
    let target = to + <usize>((y * stride + pad) * toWidth + pad) * pixel;
    if (stride == 1) {
      memory.copy(target, from, <usize>width * pixel);
      from += <usize>width * pixel;
      continue;
    }
    for (let x = 0; x < width; x++) {
      memory.copy(target, from, pixel);
      target += <usize>stride * pixel;
      from += pixel;
    }
  }
}

/**
 * to[y][x][o] += sum over the window of from[y stride + ky][x stride + kx][c] b[(ky, kx, c)][o], b packed,
 * for an image that is already padded, `fromWidth` pixels wide.
 */
export function convolve(
  to: usize,
  from: usize,
  b: usize,
  height: i32,
  width: i32,
  outputs: i32,
  fromWidth: i32,
  channels: i32,
  windowHeight: i32,
  windowWidth: i32,
  stride: i32,
): void {
  const run = windowWidth * channels;
  const window = windowHeight * run;
  const row = (<usize>(fromWidth * channels)) << 2;
  const jump = row - ((<usize>run) << 2);
  const step = (<usize>(stride * channels)) << 2;
  const toPixel = (<usize>outputs) << 2;
  const runs = max(1, WINDOW_BLOCK / run);
  const pixels = height * width;
  for (let ky = 0; ky < windowHeight; ky += runs) {
    const some = min(runs, windowHeight - ky);
    const first = from + <usize>ky * row;
    for (let j = 0; j < outputs; j += WIDTH) {
      const panel = b + ((<usize>j * window) << 2) + ((<usize>(ky * run)) << 6);
      const columns = min(WIDTH, outputs - j);
      let x = 0;
      let lineStart = first;
      for (let p = 0; p < pixels; p += 2) {
        const a0 = lineStart + <usize>x * step;
        if (++x == width) {
          x = 0;
          lineStart += <usize>stride * row;
        }
        const pair = p + 1 < pixels;
        const a1 = pair ? lineStart + <usize>x * step : a0;
        if (++x == width) {
          x = 0;
          lineStart += <usize>stride * row;
        }
        const c0 = to + <usize>p * toPixel + ((<usize>j) << 2);
        rowsTile(a0, a1, some, run, jump, panel, c0, pair ? c0 + toPixel : 0, columns);
      }
    }
  }
}

/** weights[o][(ky, kx, c)] += sum over pixels of gradient[y][x][o] from[y stride + ky][x stride + kx][c]. */
export function convolveGradient(
  weights: usize,
  gradient: usize,
  from: usize,
  height: i32,
  width: i32,
  outputs: i32,
  fromWidth: i32,
  channels: i32,
  windowHeight: i32,
  windowWidth: i32,
  stride: i32,
): void {
  const run = windowWidth * channels;
  const weightRow = (<usize>(windowHeight * run)) << 2;
  const row = (<usize>(fromWidth * channels)) << 2;
  const step = (<usize>(stride * channels)) << 2;
  const jump = <usize>stride * row - <usize>width * step;
  const pixel = (<usize>outputs) << 2;
  const lines = max(1, PIXEL_BLOCK / width);
  for (let y = 0; y < height; y += lines) {
    const some = min(lines, height - y);
    const a = gradient + <usize>(y * width) * pixel;
    for (let ky = 0; ky < windowHeight; ky++) {
      const line = from + <usize>(y * stride + ky) * row;
      for (let j = 0; j < run; j += WIDTH) {
        const columns = min(WIDTH, run - j);
        const b = line + ((<usize>j) << 2);
        for (let o = 0; o < outputs; o += 2) {
          const c0 = weights + <usize>o * weightRow + ((<usize>(ky * run + j)) << 2);
          const c1 = o + 1 < outputs ? c0 + weightRow : 0;
          columnsTile(a + ((<usize>o) << 2), pixel, b, step, some, width, jump, c0, c1, columns);
        }
      }
    }
  }
}
