/**
 * From reals to residues and back, and elements of some bits in and out of packed bytes (AssemblyScript, SIMD). The block of words is
 * the accumulator at 0; what is read or written beside it lies in the area behind it. Double arithmetic is the same as JavaScript's,
 * operation by operation, so that every result is the same bits.
 */

/** Bytes of the accumulator; where the area behind it begins. */
const AREA: usize = 131072;
/** Of a piece of values, which lies in front of as many random words. */
const PIECE: usize = 16384;

/** 2^32 - q for q = 2^32 - 5. */
const GAP: i32 = 5;

/** 2^52 + 2^51: a double with it has the nearest integer in its low bits. */
const ROUNDING: f64 = 6755399441055744;

/**
 * `words` words of the accumulator from byte `at` on become ceil(level (weight value) - u), as signed integers; values are clipped
 * first. `inside` is the largest float that is at most `clip`. Returns how many values lie beyond the clip or are no numbers.
 */
export function quantize(at: usize, words: i32, level: f64, weight: f64, clip: f64, inside: f32): i32 {
  const levels = f64x2.splat(level);
  const weights = f64x2.splat(weight);
  const most = f64x2.splat(clip);
  const least = f64x2.splat(-clip);
  const largest = f32x4.splat(inside);
  const end = ((<usize>words + 3) & ~3) << 2;
  let beyond = i32x4.splat(0);
  for (let n: usize = 0; n < end; n += 16) {
    const values = v128.load(n, AREA);
    const random = v128.load(n, AREA + PIECE);
    let low = f64x2.promote_low_f32x4(values);
    let high = f64x2.promote_low_f32x4(v128.shuffle<i32>(values, values, 2, 3, 2, 3));
    const isInside = f32x4.le(f32x4.abs(values), largest);
    if (!i32x4.all_true(isInside)) {
      beyond = i32x4.sub(beyond, v128.not(isInside));
      low = f64x2.min(f64x2.max(low, least), most);
      high = f64x2.min(f64x2.max(high, least), most);
    }
    const first = rounded(low, random, levels, weights);
    const second = rounded(high, v128.shuffle<i32>(random, random, 2, 3, 2, 3), levels, weights);
    v128.store(at + n, v128.shuffle<i32>(first, second, 0, 2, 4, 6));
  }
  return (
    i32x4.extract_lane(beyond, 0) +
    i32x4.extract_lane(beyond, 1) +
    i32x4.extract_lane(beyond, 2) +
    i32x4.extract_lane(beyond, 3)
  );
}

/** Two integers of 32 bits, each in the low half of its lane: the nearest one, and one more where that is below. */
function rounded(values: v128, random: v128, levels: v128, weights: v128): v128 {
  const unit = f64x2.mul(f64x2.convert_low_i32x4_u(random), f64x2.splat(2.3283064365386963e-10));
  const exact = f64x2.sub(f64x2.mul(levels, f64x2.mul(weights, values)), unit);
  const magic = f64x2.splat(ROUNDING);
  const moved = f64x2.add(exact, magic);
  return i64x2.sub(moved, f64x2.gt(exact, f64x2.sub(moved, magic)));
}

/** Signed integers to residues of the field: 2^32 - q less where negative. */
export function fieldResidues(words: i32): void {
  const end = (<usize>words) << 2;
  for (let n: usize = 0; n < end; n += 16) {
    const integers = v128.load(n);
    v128.store(n, i32x4.sub(integers, v128.and(i32x4.splat(GAP), i32x4.shr_s(integers, 31))));
  }
}

/** The accumulator to the area: element k in bits k * bits and up. Returns whether an element has more bits than that. */
export function pack(words: i32, bits: i32): bool {
  let pending: u64 = 0;
  let above: u32 = 0;
  let waiting: i32 = 0;
  let to = AREA;
  const end = (<usize>words) << 2;
  for (let n: usize = 0; n < end; n += 4) {
    const element = load<u32>(n);
    above |= element >> bits;
    pending |= (<u64>element) << waiting;
    waiting += bits;
    if (waiting >= 32) {
      store<u32>(to, <u32>pending);
      to += 4;
      pending >>= 32;
      waiting -= 32;
    }
  }
  store<u64>(to, pending);
  return above != 0;
}

/** Adds the elements of the area to words of the accumulator, modulo 2^32. */
export function addPacked(words: i32, bits: i32): void {
  const low: u64 = ((<u64>1) << bits) - 1;
  const end = (<usize>words) << 2;
  let bit: usize = 0;
  for (let n: usize = 0; n < end; n += 4) {
    const element = <u32>((load<u64>(bit >> 3, AREA) >> (bit & 7)) & low);
    store<u32>(n, load<u32>(n) + element);
    bit += bits;
  }
}

/** The representative of smallest absolute value: of a ring by its sign bit; of the field, q less above (q - 1) / 2 = 2^31 - 3. */
function signed(residues: v128, shift: i32, isField: bool): v128 {
  if (!isField) return i32x4.shr_s(i32x4.shl(residues, shift), shift);
  const moved = i32x4.add(residues, i32x4.splat(2));
  return i32x4.add(i32x4.sub(moved, i32x4.splat(2)), v128.and(i32x4.splat(GAP), i32x4.shr_s(moved, 31)));
}

/** The accumulator times `unit`, as floats, to the area. `shift` is 32 less the bits of a ring. */
export function dequantize(words: i32, shift: i32, isField: bool, unit: f64): void {
  const units = f64x2.splat(unit);
  const end = (<usize>words) << 2;
  for (let n: usize = 0; n < end; n += 16) {
    const integers = signed(v128.load(n), shift, isField);
    const low = f32x4.demote_f64x2_zero(f64x2.mul(f64x2.convert_low_i32x4_s(integers), units));
    const others = v128.shuffle<i32>(integers, integers, 2, 3, 2, 3);
    const high = f32x4.demote_f64x2_zero(f64x2.mul(f64x2.convert_low_i32x4_s(others), units));
    v128.store(n, v128.shuffle<i32>(low, high, 0, 1, 4, 5), AREA);
  }
}

/** Returns whether the absolute value of a word exceeds the bound. */
export function hasBeyond(words: i32, shift: i32, isField: bool, bound: u32): bool {
  const bounds = i32x4.splat(<i32>bound);
  const end = (<usize>words) << 2;
  let beyond = i32x4.splat(0);
  for (let n: usize = 0; n < end; n += 16) {
    beyond = v128.or(beyond, i32x4.gt_u(i32x4.abs(signed(v128.load(n), shift, isField)), bounds));
  }
  return v128.any_true(beyond);
}
