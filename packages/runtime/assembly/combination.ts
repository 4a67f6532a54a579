/**
 * Linear combinations over the field 2^32 - 5 (AssemblyScript, SIMD): one output block from one block of every input.
 * A coefficient comes in two halves of 16 bits, so that 2^16 products of 48 bits add up in 64 without reduction.
 */

/** 2^32 - q for q = 2^32 - 5. */
const GAP: i32 = 5;

/** Coefficients as pairs (low half, high half) of 32-bit words. */
const COEFFICIENTS: usize = 0;

/** One output block. */
const OUTPUT: usize = 524288;

/** Blocks of the inputs, one after the other, `stride` bytes apart. */
const INPUTS: usize = 528384;

/** v -> floor(v / 2^32) * 5 + v mod 2^32, the same residue: 64 bits become 35, 35 become a little over 32. */
function fold(v: v128): v128 {
  const high = i64x2.shr_u(v, 32);
  return i64x2.add(i64x2.add(i64x2.shl(high, 2), high), v128.and(v, i64x2.splat(0xffffffff)));
}

/** low + 2^16 high, below 2^32. */
function join(low: v128, high: v128): v128 {
  const shifted = i64x2.shl(fold(fold(high)), 16);
  return fold(fold(fold(i64x2.add(shifted, fold(low)))));
}

/** output = sum over `count` inputs of coefficient * input, over `words` words, rounded up to whole eights. */
export function combine(count: i32, words: i32, stride: usize): void {
  const end: usize = ((<usize>words + 7) & ~7) << 2;
  const gap = i32x4.splat(GAP);
  for (let at: usize = 0; at < end; at += 32) {
    let low0 = i64x2.splat(0);
    let low1 = i64x2.splat(0);
    let low2 = i64x2.splat(0);
    let low3 = i64x2.splat(0);
    let high0 = i64x2.splat(0);
    let high1 = i64x2.splat(0);
    let high2 = i64x2.splat(0);
    let high3 = i64x2.splat(0);
    let input = INPUTS + at;
    const last = COEFFICIENTS + ((<usize>count) << 3);
    for (let coefficient = COEFFICIENTS; coefficient < last; coefficient += 8) {
      const first = v128.load(input);
      const second = v128.load(input, 16);
      const low = v128.load32_splat(coefficient);
      const high = v128.load32_splat(coefficient, 4);
      low0 = i64x2.add(low0, i64x2.extmul_low_i32x4_u(first, low));
      low1 = i64x2.add(low1, i64x2.extmul_high_i32x4_u(first, low));
      low2 = i64x2.add(low2, i64x2.extmul_low_i32x4_u(second, low));
      low3 = i64x2.add(low3, i64x2.extmul_high_i32x4_u(second, low));
      high0 = i64x2.add(high0, i64x2.extmul_low_i32x4_u(first, high));
      high1 = i64x2.add(high1, i64x2.extmul_high_i32x4_u(first, high));
      high2 = i64x2.add(high2, i64x2.extmul_low_i32x4_u(second, high));
      high3 = i64x2.add(high3, i64x2.extmul_high_i32x4_u(second, high));
      input += stride;
    }
    const a = v128.shuffle<i32>(join(low0, high0), join(low1, high1), 0, 2, 4, 6);
    const b = v128.shuffle<i32>(join(low2, high2), join(low3, high3), 0, 2, 4, 6);
    // min(y, y + 5) as unsigned words: y - q where y >= q, y elsewhere.
    v128.store(OUTPUT + at, i32x4.min_u(a, i32x4.add(a, gap)));
    v128.store(OUTPUT + at, i32x4.min_u(b, i32x4.add(b, gap)), 16);
  }
}
