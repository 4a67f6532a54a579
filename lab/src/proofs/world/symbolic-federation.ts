/** The one world of the proofs: a federation over the symbolic suite, a hundred times faster than a real one. Nobody there tries to forge. */
import { type Keystream, plainVectorKernel, type RandomWords, type Signer } from '@basa/masking';
import { ENGINE, slotKeyIssuer, slotSealing } from '@basa/protocol';
import {
  type Environment,
  Federation,
  type FederationOptions,
  type Sealings,
  transparentSealings,
} from '@basa/simulator';
import { unsafeSymbolicSuite as suite, unsafeSymbolicSigner } from './unsafe-symbolic-suite.ts';

/** Attributes that hide nothing, and the real slot keys. */
export const ORACLE_ENGINES = ['attributes', 'slot keys'] as const;
export type OracleEngine = (typeof ORACLE_ENGINES)[number];

export interface SymbolicOptions extends Omit<FederationOptions, 'sealings'> {
  readonly engine?: OracleEngine | undefined;
}

export function symbolicFederation({ engine = 'attributes', ...options }: SymbolicOptions): Federation {
  const authorities = options.council?.authorities ?? 1;
  const sealings = engine === 'attributes' ? transparentSealings(suite) : slotKeySealings(authorities);
  return new Federation(symbolicEnvironment, { ...options, sealings });
}

function slotKeySealings(authorities: number): Sealings {
  const [issuer, ...otherIssuers] = Array.from({ length: authorities }, (_, n) =>
    slotKeyIssuer(suite, new Uint8Array(32).fill(7 + n)),
  );
  if (issuer === undefined) throw new RangeError('a task has an authority');
  return { engine: ENGINE.slotKeys, issuer, otherIssuers, sealing: slotSealing(suite, authorities) };
}

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
