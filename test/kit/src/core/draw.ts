/** Integers from a stream of words: the same stream gives the same choices. */
import type { RandomWords } from '@basa/masking';

export interface Draw {
  /** 0 .. below - 1. */
  below(below: number): number;
  /** True once in `n` times. */
  oneIn(n: number): boolean;
  of<T>(choices: readonly T[]): T;
}

export function drawFrom(fill: RandomWords): Draw {
  const words = new Uint32Array(256);
  let at = words.length;
  const below = (bound: number): number => {
    if (at === words.length) {
      fill(words);
      at = 0;
    }
    return (words[at++] as number) % bound;
  };
  return { below, oneIn: (n) => below(n) === 0, of: (choices) => choices[below(choices.length)] as never };
}
