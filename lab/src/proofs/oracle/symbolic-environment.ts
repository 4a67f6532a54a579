/** The environment of the oracle: a suite that is a hundred times faster than a real one, because no party in the oracle forges. */
import { type Keystream, plainVectorKernel, type RandomWords, type Signer } from '@basa/masking';
import type { Environment } from '@basa/simulator';
import { unsafeSymbolicSuite as suite, unsafeSymbolicSigner } from './unsafe-symbolic-suite.ts';

function signerOf(secretKey: Uint8Array): Signer {
  return unsafeSymbolicSigner(suite.sha256(secretKey));
}

/** Words that never repeat: the first word of a draw names it. */
function countedWords(seed: number): RandomWords {
  let next = seed << 20;
  return (words) => {
    for (let n = 0; n < words.length; n++) words[n] = next++;
    return words;
  };
}

const keystream: Keystream = {
  read: ({ stream, firstByte, bytes }) => {
    const length = 4 * Math.ceil((firstByte + bytes) / 4);
    const whole = suite.hkdf({ secret: stream.key, salt: stream.counter, info: new Uint8Array(), length });
    return whole.subarray(firstByte, firstByte + bytes);
  },
};

export const symbolicEnvironment: Environment = {
  tools: { suite, kernel: plainVectorKernel(16), keystream },
  createSigner: signerOf,
  randomWords: countedWords,
};
