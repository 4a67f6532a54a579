/** Arithmetic modulo the group order, by mcl. */
import { equalBytes } from '@basa/masking';
import { SCALAR_BYTES, type Scalar, type Scalars, WIDE_BYTES } from '../group.ts';
import { call } from './calls.ts';
import { makeElement, wordsOf } from './elements.ts';
import { type MclModule, SIZE } from './module.ts';
import { binary, serialize, test, unary } from './operations.ts';

export function scalarsOf(mcl: MclModule): Scalars {
  const reduce = (bytes: Uint8Array): Scalar => {
    const { words, returned } = call(mcl, SIZE.scalar, [bytes], (result, at = 0) =>
      mcl._mclBnFr_setBigEndianMod(result, at, bytes.length),
    );
    if (returned !== 0) throw new Error('mcl could not reduce a scalar');
    return makeElement('scalar', words);
  };
  const encode = (a: Scalar): Uint8Array => serialize(mcl, mcl._mclBnFr_serialize, a, SCALAR_BYTES);
  const isZero = (a: Scalar): boolean => test(mcl, mcl._mclBnFr_isZero, a);
  return {
    reduce(wide) {
      if (wide.length !== WIDE_BYTES) throw new RangeError(`a scalar is made of ${WIDE_BYTES} bytes`);
      return reduce(wide);
    },
    fromInteger: (value) => reduce(Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value)),
    add: (a, b) => binary(mcl, 'scalar', mcl._mclBnFr_add, a, b),
    subtract: (a, b) => binary(mcl, 'scalar', mcl._mclBnFr_sub, a, b),
    multiply: (a, b) => binary(mcl, 'scalar', mcl._mclBnFr_mul, a, b),
    invert: (a) => unary(mcl, 'scalar', mcl._mclBnFr_inv, a),
    isZero,
    encode,
    decode(bytes) {
      if (bytes.length !== SCALAR_BYTES) return undefined;
      const scalar = reduce(bytes);
      return isZero(scalar) || !equalBytes(encode(scalar), bytes) ? undefined : scalar;
    },
    wipe: (a) => void wordsOf(a).fill(0),
  };
}
