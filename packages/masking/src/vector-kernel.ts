/** The hot loops over one block of words: the port that wasm SIMD fills, and its plain TypeScript version. */
import { type ElementWidth, FIELD_PRIME, type Modulus } from './modulus.ts';

/**
 * Adds and subtracts one block at a time to an accumulator in fixed memory. Memory never grows, so the view stays valid for the
 * life of the kernel. Not re-entrant: one kernel per thread. An addend is bytes, little-endian elements one after the other.
 */
export interface VectorKernel {
  readonly name: string;
  /** Capacity of the accumulator, in 32-bit words; a multiple of 16. */
  readonly blockWords: number;
  readonly accumulator: Uint32Array;
  /** accumulator += addend modulo 2^32, over the first `words` words. The addend holds `width` bytes for each. */
  addRing(addend: Uint8Array, words: number, width: ElementWidth): void;
  /** accumulator -= addend modulo 2^32. */
  subtractRing(addend: Uint8Array, words: number, width: ElementWidth): void;
  /**
   * accumulator += addend modulo 2^32 - 5, lazily: the accumulator may hold any 32-bit representative. An addend word
   * >= q is left out; returns true if there was one.
   */
  addField(addend: Uint8Array, words: number): boolean;
  /** accumulator -= addend modulo 2^32 - 5, with the same rules. */
  subtractField(addend: Uint8Array, words: number): boolean;
  /** Brings every representative of the accumulator below 2^32 - 5. */
  canonicalizeField(words: number): void;
  /** Keeps the low bits of every accumulator word. */
  maskBits(words: number, bits: number): void;
  /** Overwrites the accumulator, and the remains of addends. */
  wipe(): void;
  /** If it is absent, loops in TypeScript do the same. */
  readonly elements?: ElementKernel;
}

/** Operations on single elements, over the same accumulator. Views that are returned hold until the next call. */
export interface ElementKernel {
  /**
   * accumulator = ceil(level * weight * clipped value - u), signed; returns the number of values that lie beyond the
   * clip or are not numbers.
   */
  quantize(values: Float32Array, random: Uint32Array, scale: QuantizerScale): number;
  /** Signed integers of the accumulator become residues of the field. */
  fieldResidues(words: number): void;
  /** Packs the first `words` words, each in `bits` bits, fewer than 32; undefined if a word has more. */
  pack(words: number, bits: number): Uint8Array | undefined;
  /** accumulator += elements of `bits` bits, modulo 2^32. */
  addPacked(packed: Uint8Array, words: number, bits: number): void;
  /** The accumulator's representatives of smallest absolute value, times `unit`. */
  dequantize(words: number, modulus: Modulus, unit: number): Float32Array;
  /** True if the absolute value of one of them exceeds the bound. */
  hasBeyond(words: number, modulus: Modulus, bound: number): boolean;
}

interface QuantizerScale {
  readonly level: number;
  readonly weight: number;
  readonly clip: number;
}

/** 2^32 - q: the value of a carry out of 32 bits in the field. */
const FIELD_GAP = 5;

/** One block of 64 KiB: large enough to hide the call of the cipher, small enough to stay in the cache. */
const DEFAULT_BLOCK_WORDS = 16_384;

/** The kernel in plain TypeScript, used if wasm SIMD is absent. */
export function plainVectorKernel(blockWords: number = DEFAULT_BLOCK_WORDS): VectorKernel {
  if (!Number.isInteger(blockWords) || blockWords < 16 || blockWords % 16 !== 0) {
    throw new RangeError(`blockWords must be a positive multiple of 16, got ${blockWords}`);
  }
  const accumulator = new Uint32Array(blockWords);
  const widened = new Uint32Array(blockWords);
  const wordsOf = (addend: Uint8Array, words: number, width: ElementWidth): Uint32Array => {
    if (width === 4 && addend.byteOffset % 4 === 0) return new Uint32Array(addend.buffer, addend.byteOffset, words);
    for (let k = 0; k < words; k++) {
      let word = 0;
      for (let byte = width - 1; byte >= 0; byte--) word = (word << 8) | (addend[width * k + byte] as number);
      widened[k] = word;
    }
    return widened;
  };
  return {
    name: 'plain TypeScript',
    blockWords,
    accumulator,
    addRing: (addend, words, width) => addRingInPlace(accumulator, wordsOf(addend, words, width), words),
    subtractRing: (addend, words, width) => subtractRingInPlace(accumulator, wordsOf(addend, words, width), words),
    addField: (addend, words) => addFieldInPlace(accumulator, wordsOf(addend, words, 4), words),
    subtractField: (addend, words) => subtractFieldInPlace(accumulator, wordsOf(addend, words, 4), words),
    canonicalizeField: (words) => canonicalizeFieldInPlace(accumulator, words),
    maskBits: (words, bits) => maskBitsInPlace(accumulator, words, bits),
    wipe() {
      accumulator.fill(0);
      widened.fill(0);
    },
  };
}

function addRingInPlace(target: Uint32Array, addend: Uint32Array, words: number): void {
  for (let k = 0; k < words; k++) target[k] = (target[k] as number) + (addend[k] as number);
}

function subtractRingInPlace(target: Uint32Array, addend: Uint32Array, words: number): void {
  for (let k = 0; k < words; k++) target[k] = (target[k] as number) - (addend[k] as number);
}

// A carry out of 32 bits equals 2^32 = q + 5, so 5 is added. With an addend < q the second addition cannot carry.
function addFieldInPlace(target: Uint32Array, addend: Uint32Array, words: number): boolean {
  let rejected = false;
  for (let k = 0; k < words; k++) {
    const word = addend[k] as number;
    if (word >= FIELD_PRIME) {
      rejected = true;
      continue;
    }
    const total = (target[k] as number) + word;
    target[k] = total > 0xffff_ffff ? total + FIELD_GAP : total;
  }
  return rejected;
}

function subtractFieldInPlace(target: Uint32Array, addend: Uint32Array, words: number): boolean {
  let rejected = false;
  for (let k = 0; k < words; k++) {
    const word = addend[k] as number;
    if (word >= FIELD_PRIME) {
      rejected = true;
      continue;
    }
    const difference = (target[k] as number) - word;
    target[k] = difference < 0 ? difference - FIELD_GAP : difference;
  }
  return rejected;
}

function canonicalizeFieldInPlace(target: Uint32Array, words: number): void {
  for (let k = 0; k < words; k++) {
    const word = target[k] as number;
    if (word >= FIELD_PRIME) target[k] = word - FIELD_PRIME;
  }
}

function maskBitsInPlace(target: Uint32Array, words: number, bits: number): void {
  const low = bits === 32 ? 0xffff_ffff : 2 ** bits - 1;
  for (let k = 0; k < words; k++) target[k] = (target[k] as number) & low;
}
