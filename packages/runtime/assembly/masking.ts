/**
 * The masking kernel (AssemblyScript, SIMD): one block of an accumulator and one piece of an addend in fixed memory. Every function
 * works on `words` 32-bit words of the accumulator from byte `at` on, rounded up to whole vectors of four: the areas are
 * multiples of it. A piece is small enough to be in the first cache when it is added, right after it was copied there.
 */
export { addPacked, dequantize, fieldResidues, hasBeyond, pack, quantize } from './elements';

/** Bytes of the accumulator, which starts at 0; the addend lies right after it. */
const AREA: usize = 131072;

/** 2^32 - q for q = 2^32 - 5. */
const GAP: i32 = 5;

/** q - 1, as the signed bit pattern. */
const LARGEST: i32 = -6;

function endOf(words: i32): usize {
  return ((<usize>words + 3) & ~3) << 2;
}

/** Three bytes each to words; indices outside of the vector give zeros. */
function triples(bytes: v128): v128 {
  return i8x16.swizzle(bytes, i8x16(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
}

/** Four elements of `width` bytes each from the addend, as words. */
function drawn(first: usize, width: i32): v128 {
  if (width == 4) return v128.load(first << 2, AREA);
  if (width == 3) return triples(v128.load(3 * first, AREA));
  if (width == 2) return v128.load_ext<u16>(first << 1, AREA);
  return i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(first, AREA)));
}

/** Sum and difference are one loop each time: `isSum` is known where it is compiled, and costs nothing. */
class Ring {
  @inline
  static moved(isSum: bool, a: v128, b: v128): v128 {
    return isSum ? i32x4.add(a, b) : i32x4.sub(a, b);
  }

  /** The addend holds elements of `width` bytes, 1 to 4, one after the other. */
  @inline
  static move(at: usize, words: i32, width: i32, isSum: bool): void {
    const end = endOf(words);
    const whole = end & ~63;
    let n: usize = 0;
    if (width == 4) {
      for (; n < whole; n += 64) {
        const to = at + n;
        v128.store(to, Ring.moved(isSum, v128.load(to), v128.load(n, AREA)));
        v128.store(to, Ring.moved(isSum, v128.load(to, 16), v128.load(n, AREA + 16)), 16);
        v128.store(to, Ring.moved(isSum, v128.load(to, 32), v128.load(n, AREA + 32)), 32);
        v128.store(to, Ring.moved(isSum, v128.load(to, 48), v128.load(n, AREA + 48)), 48);
      }
    } else if (width == 3) {
      for (let from: usize = 0; n < whole; n += 64, from += 48) {
        const to = at + n;
        v128.store(to, Ring.moved(isSum, v128.load(to), triples(v128.load(from, AREA))));
        v128.store(to, Ring.moved(isSum, v128.load(to, 16), triples(v128.load(from, AREA + 12))), 16);
        v128.store(to, Ring.moved(isSum, v128.load(to, 32), triples(v128.load(from, AREA + 24))), 32);
        v128.store(to, Ring.moved(isSum, v128.load(to, 48), triples(v128.load(from, AREA + 36))), 48);
      }
    } else if (width == 2) {
      for (let from: usize = 0; n < whole; n += 64, from += 32) {
        const to = at + n;
        v128.store(to, Ring.moved(isSum, v128.load(to), v128.load_ext<u16>(from, AREA)));
        v128.store(to, Ring.moved(isSum, v128.load(to, 16), v128.load_ext<u16>(from, AREA + 8)), 16);
        v128.store(to, Ring.moved(isSum, v128.load(to, 32), v128.load_ext<u16>(from, AREA + 16)), 32);
        v128.store(to, Ring.moved(isSum, v128.load(to, 48), v128.load_ext<u16>(from, AREA + 24)), 48);
      }
    }
    for (; n < end; n += 16) v128.store(at + n, Ring.moved(isSum, v128.load(at + n), drawn(n >> 2, width)));
  }
}

export function addRing(at: usize, words: i32, width: i32): void {
  Ring.move(at, words, width, true);
}

export function subtractRing(at: usize, words: i32, width: i32): void {
  Ring.move(at, words, width, false);
}

/** Returns whether a word of the addend lies outside the field: five in 2^32 do. */
function hasOutside(end: usize): bool {
  let most = i32x4.splat(0);
  let more = i32x4.splat(0);
  const whole = end & ~31;
  for (let n: usize = 0; n < whole; n += 32) {
    most = i32x4.max_u(most, v128.load(n, AREA));
    more = i32x4.max_u(more, v128.load(n, AREA + 16));
  }
  if (whole != end) most = i32x4.max_u(most, v128.load(whole, AREA));
  return v128.any_true(i32x4.gt_u(i32x4.max_u(most, more), i32x4.splat(LARGEST)));
}

/** Sets words outside the field to zero, so that they are left out. */
function leaveOut(end: usize): void {
  const largest = i32x4.splat(LARGEST);
  for (let n: usize = 0; n < end; n += 16) {
    const word = v128.load(n, AREA);
    v128.store(n, v128.andnot(word, i32x4.gt_u(word, largest)), AREA);
  }
}

/** A carry out of 32 bits is worth 2^32 = q + 5. There was one where the total is below an addend, so where it is not the larger. */
function sumInField(a: v128, b: v128): v128 {
  const total = i32x4.add(a, b);
  return i32x4.add(total, v128.andnot(i32x4.splat(GAP), i32x4.eq(i32x4.max_u(total, b), total)));
}

function differenceInField(a: v128, b: v128): v128 {
  return i32x4.sub(i32x4.sub(a, b), v128.andnot(i32x4.splat(GAP), i32x4.eq(i32x4.max_u(a, b), a)));
}

class Field {
  @inline
  static moved(isSum: bool, a: v128, b: v128): v128 {
    return isSum ? sumInField(a, b) : differenceInField(a, b);
  }

  /** Lazy, modulo q; words >= q are left out. Returns 1 where there was one. */
  @inline
  static move(at: usize, words: i32, isSum: bool): i32 {
    const end = endOf(words);
    const hasRejected = hasOutside(end);
    if (hasRejected) leaveOut(end);
    const whole = end & ~31;
    let n: usize = 0;
    for (; n < whole; n += 32) {
      const to = at + n;
      v128.store(to, Field.moved(isSum, v128.load(to), v128.load(n, AREA)));
      v128.store(to, Field.moved(isSum, v128.load(to, 16), v128.load(n, AREA + 16)), 16);
    }
    if (n < end) v128.store(at + n, Field.moved(isSum, v128.load(at + n), v128.load(n, AREA)));
    return i32(hasRejected);
  }
}

export function addField(at: usize, words: i32): i32 {
  return Field.move(at, words, true);
}

export function subtractField(at: usize, words: i32): i32 {
  return Field.move(at, words, false);
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
