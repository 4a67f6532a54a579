/** Randomness of an exploration: the same step draws the same bytes in every exploration. */
import { ascii, concatBytes, type RandomWords } from '@basa/masking';
import type { Environment } from '@basa/simulator';
import { symbolicEnvironment } from '../../world/symbolic-federation.ts';

export interface NamedDraws {
  readonly environment: Environment;
  begin(step: string): void;
}

export function namedDraws(): NamedDraws {
  const { tools } = symbolicEnvironment;
  let [step, count] = ['the start', 0];
  const fill: RandomWords = (words) => {
    const blocks = Array.from({ length: Math.ceil(words.length / 4) }, (_, n) =>
      tools.suite.sha256(ascii(`${step} ${count} ${n}`)).subarray(0, 16),
    );
    count++;
    // Without the highest bit, so that every draw is a valid key of an epoch.
    words.set(new Uint32Array(concatBytes(...blocks).buffer, 0, words.length).map((word) => word >>> 1));
    return words;
  };
  const begin = (name: string): void => {
    [step, count] = [name, 0];
  };
  return { environment: { ...symbolicEnvironment, randomWords: () => fill }, begin };
}
