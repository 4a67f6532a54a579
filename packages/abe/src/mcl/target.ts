/** The target group and the pairing into it, by mcl. */
import { equalBytes } from '@basa/masking';
import { type GT, GT_BYTES, type PairingInput, type TargetGroup } from '../group.ts';
import { call } from './calls.ts';
import { makeElement, wordsOf } from './elements.ts';
import { type MclModule, SIZE } from './module.ts';
import { binary, deserialize, serialize, test, unary } from './operations.ts';

const COEFFICIENT_BYTES = 48;
const PAIRS_AT_ONCE = 64; // 27 kB of the wasm stack of 1 MB

export function targetGroupOf(mcl: MclModule): TargetGroup {
  const library = { mcl, read: mcl._mclBnGT_deserialize, write: mcl._mclBnGT_serialize };
  const encode = (a: GT): Uint8Array => swapPairs(serialize(mcl, mcl._mclBnGT_serialize, a, GT_BYTES));
  return {
    power: (a, by) => binary(mcl, 'gt', mcl._mclBnGT_pow, a, by),
    equal: (a, b) => equalBytes(encode(a), encode(b)),
    encode,
    decode(bytes) {
      if (bytes.length !== GT_BYTES) return undefined;
      // mcl reads any element of Fp12 here; isValid is the check for order r.
      const element = deserialize('gt', swapPairs(bytes), library);
      if (element === undefined || test(mcl, mcl._mclBnGT_isOne, element)) return undefined;
      return test(mcl, mcl._mclBnGT_isValid, element) ? element : undefined;
    },
  };
}

/** With the Ethereum serialization mcl writes the higher coefficient of each Fp2 first. */
function swapPairs(bytes: Uint8Array): Uint8Array {
  const swapped = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 2 * COEFFICIENT_BYTES) {
    swapped.set(bytes.subarray(at + COEFFICIENT_BYTES, at + 2 * COEFFICIENT_BYTES), at);
    swapped.set(bytes.subarray(at, at + COEFFICIENT_BYTES), at + COEFFICIENT_BYTES);
  }
  return swapped;
}

export function pairingProduct(mcl: MclModule, pairs: readonly PairingInput[]): GT {
  if (pairs.length === 0) throw new RangeError('a pairing product needs a pair');
  let product = millerLoops(mcl, pairs.slice(0, PAIRS_AT_ONCE));
  for (let start = PAIRS_AT_ONCE; start < pairs.length; start += PAIRS_AT_ONCE) {
    const next = millerLoops(mcl, pairs.slice(start, start + PAIRS_AT_ONCE));
    product = binary(mcl, 'gt', mcl._mclBnGT_mul, product, next);
  }
  return unary(mcl, 'gt', mcl._mclBn_finalExp, product);
}

function millerLoops(mcl: MclModule, pairs: readonly PairingInput[]): GT {
  const g1s = joinWords(pairs.map(({ g1 }) => wordsOf(g1)));
  const g2s = joinWords(pairs.map(({ g2 }) => wordsOf(g2)));
  const { words } = call(mcl, SIZE.gt, [g1s, g2s], (result, g1At = 0, g2At = 0) => {
    mcl._mclBn_millerLoopVec(result, g1At, g2At, pairs.length);
    return 0;
  });
  return makeElement('gt', words);
}

function joinWords(parts: readonly Uint32Array[]): Uint32Array {
  const [first] = parts;
  const joined = new Uint32Array((first?.length ?? 0) * parts.length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
