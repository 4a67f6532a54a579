/** Dense products: packing the right operand into panels of 16 columns, and the loops that keep blocks in the cache. */
import { columnsTile, rowsTile, WIDTH } from './tile';

/** Rows of a panel worked on at a time: 512 x 64 bytes stay in the first cache. Fixes the order of additions. */
const BLOCK: i32 = 512;

/** Columns of a block of a weight gradient. */
const STRIPE: i32 = 512;

/** to[k][n] for row-major `from` of `rows` by `columns`: each panel is rows x 16, the last one filled with zeros. */
export function packRows(to: usize, from: usize, rows: i32, columns: i32): void {
  const stride = (<usize>columns) << 2;
  for (let j = 0; j < columns; j += WIDTH) {
    const width = min(WIDTH, columns - j);
    let source = from + ((<usize>j) << 2);
    for (let k = 0; k < rows; k++) {
      if (width == WIDTH) {
        v128.store(to, v128.load(source));
        v128.store(to, v128.load(source, 16), 16);
        v128.store(to, v128.load(source, 32), 32);
        v128.store(to, v128.load(source, 48), 48);
      } else packPart(to, source, width, 4);
      to += 64;
      source += stride;
    }
  }
}

/** The panels of the transpose: to[k][n] = from[n][k], for `from` of `columns` rows with `rows` words each. */
export function packColumns(to: usize, from: usize, rows: i32, columns: i32): void {
  const stride = (<usize>rows) << 2;
  for (let j = 0; j < columns; j += WIDTH) {
    const width = min(WIDTH, columns - j);
    const source = from + <usize>j * stride;
    if (width == WIDTH) packTransposed(to, source, rows, stride);
    else for (let k = 0; k < rows; k++) packPart(to + ((<usize>k) << 6), source + ((<usize>k) << 2), width, stride);
    to += (<usize>rows) << 6;
  }
}

/** Sixteen rows at a time, four words of each: a 4 x 4 transpose in registers. */
function packTransposed(to: usize, from: usize, rows: i32, stride: usize): void {
  const whole = rows & ~3;
  for (let k = 0; k < whole; k += 4) {
    for (let n: usize = 0; n < 64; n += 16) {
      const source = from + (n >> 2) * stride + ((<usize>k) << 2);
      const a = v128.load(source);
      const b = v128.load(source + stride);
      const c = v128.load(source + 2 * stride);
      const d = v128.load(source + 3 * stride);
      const ab0 = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
      const ab1 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
      const cd0 = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
      const cd1 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
      const target = to + ((<usize>k) << 6) + n;
      v128.store(target, v128.shuffle<f32>(ab0, cd0, 0, 1, 4, 5));
      v128.store(target, v128.shuffle<f32>(ab0, cd0, 2, 3, 6, 7), 64);
      v128.store(target, v128.shuffle<f32>(ab1, cd1, 0, 1, 4, 5), 128);
      v128.store(target, v128.shuffle<f32>(ab1, cd1, 2, 3, 6, 7), 192);
    }
  }
  for (let k = whole; k < rows; k++) packPart(to + ((<usize>k) << 6), from + ((<usize>k) << 2), WIDTH, stride);
}

function packPart(to: usize, from: usize, width: i32, step: usize): void {
  for (let n = 0; n < WIDTH; n++) {
    store<f32>(to + ((<usize>n) << 2), n < width ? load<f32>(from + <usize>n * step) : 0);
  }
}

/**
 * The panels that turn a convolution around: to[(y, x, o)][c] = from[o][taps - 1 - (y, x)][c].
 * Correlating a padded output gradient with them gives the input gradient.
 */
export function packTurned(to: usize, from: usize, outputs: i32, taps: i32, channels: i32): void {
  const stride = (<usize>(taps * channels)) << 2;
  for (let j = 0; j < channels; j += WIDTH) {
    const width = min(WIDTH, channels - j);
    for (let tap = taps - 1; tap >= 0; tap--) {
      let source = from + ((<usize>(tap * channels + j)) << 2);
      for (let o = 0; o < outputs; o++) {
        packPart(to, source, width, 4);
        to += 64;
        source += stride;
      }
    }
  }
}

/** Writes the same row (a bias) `rows` times, so that products are added to it. */
export function fillRows(to: usize, row: usize, rows: i32, columns: i32): void {
  const whole = columns & ~3;
  for (let r = 0; r < rows; r++) {
    for (let n = 0; n < whole; n += 4) v128.store(to + ((<usize>n) << 2), v128.load(row + ((<usize>n) << 2)));
    for (let n = whole; n < columns; n++) store<f32>(to + ((<usize>n) << 2), load<f32>(row + ((<usize>n) << 2)));
    to += (<usize>columns) << 2;
  }
}

/** c[m][n] += sum over k of a[m][k] b[k][n], b packed. */
export function multiply(m: i32, n: i32, k: i32, a: usize, b: usize, c: usize): void {
  const aRow = (<usize>k) << 2;
  const cRow = (<usize>n) << 2;
  for (let from = 0; from < k; from += BLOCK) {
    const run = min(BLOCK, k - from);
    for (let j = 0; j < n; j += WIDTH) {
      const panel = b + ((<usize>j * k) << 2) + ((<usize>from) << 6);
      const columns = min(WIDTH, n - j);
      for (let i = 0; i < m; i += 2) {
        const a0 = a + <usize>i * aRow + ((<usize>from) << 2);
        const c0 = c + <usize>i * cRow + ((<usize>j) << 2);
        const pair = i + 1 < m;
        rowsTile(a0, pair ? a0 + aRow : a0, 1, run, 0, panel, c0, pair ? c0 + cRow : 0, columns);
      }
    }
  }
}

/** c[m][n] += sum over k of a[k][m] b[k][n], nothing packed: how a dense layer's weights get their gradient. */
export function multiplyTransposed(m: i32, n: i32, k: i32, a: usize, b: usize, c: usize): void {
  const cRow = (<usize>n) << 2;
  for (let stripe = 0; stripe < n; stripe += STRIPE) {
    const end = min(n, stripe + STRIPE);
    for (let i = 0; i < m; i += 2) {
      for (let j = stripe; j < end; j += WIDTH) {
        const c0 = c + <usize>i * cRow + ((<usize>j) << 2);
        const c1 = i + 1 < m ? c0 + cRow : 0;
        const b0 = b + ((<usize>j) << 2);
        columnsTile(a + ((<usize>i) << 2), (<usize>m) << 2, b0, cRow, 1, k, 0, c0, c1, min(WIDTH, n - j));
      }
    }
  }
}
