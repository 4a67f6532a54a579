/**
 * The two inner loops everything else is made of: a tile of 2 rows by 16 columns in eight accumulators. With four
 * columns of the right operand, one broadcast and one product that is 14 registers: x86 has 15 to give. Words are
 * broadcast as they are loaded, which on x86 takes no slot of arithmetic; a shuffle does, and made products a tenth slower.
 * On ARM it is one operation in nine. 2 divides every height without a rest.
 */

/** Columns of a tile, and of a packed panel. */
export const WIDTH: i32 = 16;

/** A tile's two rows, for edges: copied in, worked on, copied out. Lives below the arena. */
const SCRATCH: usize = 1024;
const ROW_BYTES: usize = 64;

function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(c, f32x4.mul(a, b));
}

/** Both products are one loop: `isRows` is known where it is compiled, and costs nothing. */
class Tile {
  @inline
  static multiply(
    isRows: bool,
    a0: usize,
    a1: usize,
    aStep: usize,
    b: usize,
    bStep: usize,
    runs: i32,
    run: i32,
    jump: usize,
    c0: usize,
    c1: usize,
  ): void {
    let s0 = v128.load(c0);
    let s1 = v128.load(c0, 16);
    let s2 = v128.load(c0, 32);
    let s3 = v128.load(c0, 48);
    let t0 = v128.load(c1);
    let t1 = v128.load(c1, 16);
    let t2 = v128.load(c1, 32);
    let t3 = v128.load(c1, 48);
    for (let r = 0; r < runs; r++) {
      for (let k = 0; k < run; k++) {
        const b0 = v128.load(b);
        const b1 = v128.load(b, 16);
        const b2 = v128.load(b, 32);
        const b3 = v128.load(b, 48);
        const x = v128.load32_splat(a0);
        s0 = multiplyAdd(x, b0, s0);
        s1 = multiplyAdd(x, b1, s1);
        s2 = multiplyAdd(x, b2, s2);
        s3 = multiplyAdd(x, b3, s3);
        const y = isRows ? v128.load32_splat(a1) : v128.load32_splat(a0, 4);
        t0 = multiplyAdd(y, b0, t0);
        t1 = multiplyAdd(y, b1, t1);
        t2 = multiplyAdd(y, b2, t2);
        t3 = multiplyAdd(y, b3, t3);
        a0 += aStep;
        if (isRows) a1 += aStep;
        b += bStep;
      }
      if (isRows) {
        a0 += jump;
        a1 += jump;
      } else b += jump;
    }
    v128.store(c0, s0);
    v128.store(c0, s1, 16);
    v128.store(c0, s2, 32);
    v128.store(c0, s3, 48);
    v128.store(c1, t0);
    v128.store(c1, t1, 16);
    v128.store(c1, t2, 32);
    v128.store(c1, t3, 48);
  }
}

/** c += a b for two rows of a that start anywhere and a packed panel b; a advances by `run` words, then jumps. */
function tileByRows(a0: usize, a1: usize, runs: i32, run: i32, jump: usize, b: usize, c0: usize, c1: usize): void {
  Tile.multiply(true, a0, a1, 4, b, 64, runs, run, jump, c0, c1);
}

/** c += a^T b: two neighbouring columns of a, sixteen of b, both read where they lie; b jumps after each run. */
function tileByColumns(
  a: usize,
  aStep: usize,
  b: usize,
  bStep: usize,
  runs: i32,
  run: i32,
  bJump: usize,
  c0: usize,
  c1: usize,
): void {
  Tile.multiply(false, a, a, aStep, b, bStep, runs, run, bJump, c0, c1);
}

function copyWords(to: usize, from: usize, words: i32): void {
  for (let i = 0; i < words; i++) store<f32>(to + ((<usize>i) << 2), load<f32>(from + ((<usize>i) << 2)));
}

/** tileByRows for a tile that may be narrower or lower: `columns` of 16, and c1 = 0 where there is no second row. */
export function rowsTile(
  a0: usize,
  a1: usize,
  runs: i32,
  run: i32,
  jump: usize,
  b: usize,
  c0: usize,
  c1: usize,
  columns: i32,
): void {
  if (columns == WIDTH && c1 != 0) return tileByRows(a0, a1, runs, run, jump, b, c0, c1);
  copyWords(SCRATCH, c0, columns);
  if (c1 != 0) copyWords(SCRATCH + ROW_BYTES, c1, columns);
  tileByRows(a0, a1, runs, run, jump, b, SCRATCH, SCRATCH + ROW_BYTES);
  copyWords(c0, SCRATCH, columns);
  if (c1 != 0) copyWords(c1, SCRATCH + ROW_BYTES, columns);
}

/** tileByColumns under the same rule. */
export function columnsTile(
  a: usize,
  aStep: usize,
  b: usize,
  bStep: usize,
  runs: i32,
  run: i32,
  bJump: usize,
  c0: usize,
  c1: usize,
  columns: i32,
): void {
  if (columns == WIDTH && c1 != 0) return tileByColumns(a, aStep, b, bStep, runs, run, bJump, c0, c1);
  copyWords(SCRATCH, c0, columns);
  if (c1 != 0) copyWords(SCRATCH + ROW_BYTES, c1, columns);
  tileByColumns(a, aStep, b, bStep, runs, run, bJump, SCRATCH, SCRATCH + ROW_BYTES);
  copyWords(c0, SCRATCH, columns);
  if (c1 != 0) copyWords(c1, SCRATCH + ROW_BYTES, columns);
}
