/**
 * The masking kernel (AssemblyScript, SIMD): one block of an accumulator and one piece of an addend in fixed memory. Every function
 * works on `words` 32-bit words of the accumulator from byte `at` on, rounded up to whole vectors of four: the areas are
 * multiples of it. A piece is small enough to be in the first cache when it is added, right after it was copied there.
 */

/** Bytes of the accumulator, which starts at 0; the addend lies right after it. */
const AREA: usize = 65536;

/** 2^32 - q for q = 2^32 - 5. */
const GAP: i32 = 5;

/** q - 1, as the signed bit pattern. */
const LARGEST: i32 = -6;

function endOf(words: i32): usize {
  return ((<usize>words + 3) & ~3) << 2;
}

/** Four elements of one, two or three bytes each from the addend, as words. */
function drawn1(first: usize): v128 {
  return i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(first, AREA)));
}

function drawn2(first: usize): v128 {
  return v128.load_ext<u16>(first << 1, AREA);
}

/** Indices outside of the vector give zeros. */
function drawn3(first: usize): v128 {
  return i8x16.swizzle(v128.load(3 * first, AREA), i8x16(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
}

/** The addend holds elements of `width` bytes, 1 to 4, one after the other. */
export function addRing(at: usize, words: i32, width: i32): void {
  const end = endOf(words);
  if (width == 1) {
    for (let n: usize = 0; n < end; n += 16) v128.store(at + n, i32x4.add(v128.load(at + n), drawn1(n >> 2)));
  } else if (width == 2) {
    for (let n: usize = 0; n < end; n += 16) v128.store(at + n, i32x4.add(v128.load(at + n), drawn2(n >> 2)));
  } else if (width == 3) {
    for (let n: usize = 0; n < end; n += 16) v128.store(at + n, i32x4.add(v128.load(at + n), drawn3(n >> 2)));
  } else {
    const whole = end & ~63;
    for (let n: usize = 0; n < whole; n += 64) {
      const to = at + n;
      v128.store(to, i32x4.add(v128.load(to), v128.load(n, AREA)));
      v128.store(to, i32x4.add(v128.load(to, 16), v128.load(n, AREA + 16)), 16);
      v128.store(to, i32x4.add(v128.load(to, 32), v128.load(n, AREA + 32)), 32);
      v128.store(to, i32x4.add(v128.load(to, 48), v128.load(n, AREA + 48)), 48);
    }
    for (let n = whole; n < end; n += 16) v128.store(at + n, i32x4.add(v128.load(at + n), v128.load(n, AREA)));
  }
}

export function subtractRing(at: usize, words: i32, width: i32): void {
  const end = endOf(words);
  if (width == 1) {
    for (let n: usize = 0; n < end; n += 16) v128.store(at + n, i32x4.sub(v128.load(at + n), drawn1(n >> 2)));
  } else if (width == 2) {
    for (let n: usize = 0; n < end; n += 16) v128.store(at + n, i32x4.sub(v128.load(at + n), drawn2(n >> 2)));
  } else if (width == 3) {
    for (let n: usize = 0; n < end; n += 16) v128.store(at + n, i32x4.sub(v128.load(at + n), drawn3(n >> 2)));
  } else {
    const whole = end & ~63;
    for (let n: usize = 0; n < whole; n += 64) {
      const to = at + n;
      v128.store(to, i32x4.sub(v128.load(to), v128.load(n, AREA)));
      v128.store(to, i32x4.sub(v128.load(to, 16), v128.load(n, AREA + 16)), 16);
      v128.store(to, i32x4.sub(v128.load(to, 32), v128.load(n, AREA + 32)), 32);
      v128.store(to, i32x4.sub(v128.load(to, 48), v128.load(n, AREA + 48)), 48);
    }
    for (let n = whole; n < end; n += 16) v128.store(at + n, i32x4.sub(v128.load(at + n), v128.load(n, AREA)));
  }
}

/** Lazy addition modulo q; words >= q are left out. Returns 1 where there was one. */
export function addField(at: usize, words: i32): i32 {
  const end = endOf(words);
  const gap = i32x4.splat(GAP);
  const largest = i32x4.splat(LARGEST);
  let rejected = i32x4.splat(0);
  for (let n: usize = 0; n < end; n += 16) {
    const drawn = v128.load(n, AREA);
    const outside = i32x4.gt_u(drawn, largest);
    rejected = v128.or(rejected, outside);
    const addend = v128.andnot(drawn, outside);
    const total = i32x4.add(v128.load(at + n), addend);
    // A carry out of 32 bits is worth 2^32 = q + 5.
    v128.store(at + n, i32x4.add(total, v128.and(i32x4.lt_u(total, addend), gap)));
  }
  return i32(v128.any_true(rejected));
}

/** Lazy subtraction modulo q, with the same rule. */
export function subtractField(at: usize, words: i32): i32 {
  const end = endOf(words);
  const gap = i32x4.splat(GAP);
  const largest = i32x4.splat(LARGEST);
  let rejected = i32x4.splat(0);
  for (let n: usize = 0; n < end; n += 16) {
    const drawn = v128.load(n, AREA);
    const outside = i32x4.gt_u(drawn, largest);
    rejected = v128.or(rejected, outside);
    const subtrahend = v128.andnot(drawn, outside);
    const minuend = v128.load(at + n);
    const borrowed = i32x4.lt_u(minuend, subtrahend);
    v128.store(at + n, i32x4.sub(i32x4.sub(minuend, subtrahend), v128.and(borrowed, gap)));
  }
  return i32(v128.any_true(rejected));
}

/** The whole block from its start. min(y, y + 5) as unsigned words: y - q where y >= q, y elsewhere. */
export function canonicalizeField(words: i32): void {
  const end = endOf(words);
  const gap = i32x4.splat(GAP);
  for (let at: usize = 0; at < end; at += 16) {
    const word = v128.load(at);
    v128.store(at, i32x4.min_u(word, i32x4.add(word, gap)));
  }
}

export function maskBits(words: i32, bits: i32): void {
  const end = endOf(words);
  const low = i32x4.splat(<i32>(<u32>0xffffffff >> (32 - bits)));
  for (let at: usize = 0; at < end; at += 16) {
    v128.store(at, v128.and(v128.load(at), low));
  }
}
