/**
 * Named, seeded randomness: xoshiro128** (Blackman and Vigna 2018) on 32-bit integers, so that the same seed and
 * names give the same draws on every machine and in every runtime. For simulation and training, never for secrets.
 */
import { ln } from './exact-math.ts';

export type Name = string | number;

/** The stream that belongs to a seed and a list of names, such as `(7, 'batch', user, trip)`. */
export function randomStream(seed: number, ...names: readonly Name[]): RandomStream {
  // Four words, so that two of a million streams do not meet by chance.
  let [a, b, c, d] = [0x9e37_79b9, 0x243f_6a88, 0xb7e1_5162, 0x811c_9dc5];
  for (const part of [seed, ...names]) {
    // A type tag before and a mark after each part: ('a', 1) is neither ('a1') nor ('a', '1').
    const text = `${typeof part === 'number' ? '#' : '$'}${part}\u0000`;
    for (let i = 0; i < text.length; i++) {
      a = mix(a ^ text.charCodeAt(i));
      b = mix(b + a);
      c = mix(c + b);
      d = mix(d + c);
    }
  }
  return new RandomStream(a, b, c, d);
}

export class RandomStream {
  #a: number;
  #b: number;
  #c: number;
  #d: number;
  #spareNormal: number | undefined;

  /** The four words of the state, not all zero. */
  constructor(a: number, b: number, c: number, d: number) {
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = (a | b | c | d) === 0 ? 1 : d;
  }

  /** 32 uniform bits. */
  u32(): number {
    const product = Math.imul(this.#b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result;
  }

  /** A multiple of 2^-53 in [0, 1). */
  unit(): number {
    const high = this.u32() >>> 5;
    return (high * 0x400_0000 + (this.u32() >>> 6)) / 0x20_0000_0000_0000;
  }

  /** An integer from 0 to bound - 1, without bias. */
  below(bound: number): number {
    if (!(Number.isInteger(bound) && bound > 0 && bound <= 2 ** 32)) {
      throw new RangeError(`bound must be an integer from 1 to 2^32, got ${bound}`);
    }
    const limit = 2 ** 32 - (2 ** 32 % bound);
    let word = this.u32();
    while (word >= limit) word = this.u32();
    return word % bound;
  }

  /** Exponential with mean 1. */
  exponential(): number {
    return -ln(1 - this.unit());
  }

  /** Standard normal, by Marsaglia's polar method. */
  normal(): number {
    const spare = this.#spareNormal;
    this.#spareNormal = undefined;
    if (spare !== undefined) return spare;
    for (;;) {
      const x = 2 * this.unit() - 1;
      const y = 2 * this.unit() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const factor = Math.sqrt((-2 * ln(square)) / square);
      this.#spareNormal = y * factor;
      return x * factor;
    }
  }

  /** Fisher and Yates, in place. */
  shuffle<Order extends Uint32Array | number[]>(order: Order): Order {
    for (let last = order.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      const kept = order[last] as number;
      order[last] = order[other] as number;
      order[other] = kept;
    }
    return order;
  }
}

/** The finaliser of MurmurHash3: every bit of the input moves half the bits of the output. */
function mix(word: number): number {
  let x = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return x ^ (x >>> 16);
}
