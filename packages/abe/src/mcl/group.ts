/** The default backend: mcl in WebAssembly. */

import { ascii, equalBytes } from '@basa/masking';
import {
  ATTRIBUTE_DST,
  checkKnownAnswers,
  type Element,
  type G1,
  G1_BYTES,
  G1_GENERATOR,
  G2_BYTES,
  G2_GENERATOR,
  type Group,
  type GT,
  GT_BYTES,
  hexBytes,
  type Kind,
  type PairingInput,
  type Points,
  SCALAR_BYTES,
  type Scalar,
  type Scalars,
  type TargetGroup,
  WIDE_BYTES,
} from '../group.ts';
import { call, loadMcl, type MclModule, SIZE } from './module.ts';

/** The words sit in a private field, so that no element prints. */
class MclElement<K extends Kind> implements Element<K> {
  readonly kind: K;
  readonly #words: Uint32Array;

  constructor(kind: K, words: Uint32Array) {
    this.kind = kind;
    this.#words = words;
  }

  static words(element: Element<Kind>): Uint32Array {
    if (!(element instanceof MclElement)) throw new TypeError(`this ${element.kind} is not of the mcl backend`);
    return element.#words;
  }
}

function makeElement<K extends Kind>(kind: K, words: Uint32Array): Element<K> {
  return new MclElement(kind, words);
}

/** The words themselves, not a copy. */
function wordsOf(element: Element<Kind>): Uint32Array {
  return MclElement.words(element);
}

function unary<K extends Kind>(
  mcl: MclModule,
  kind: K,
  operation: (result: number, operand: number) => void,
  operand: Element<K>,
): Element<K> {
  const { words } = call(mcl, SIZE[kind], [wordsOf(operand)], (result, at = 0) => {
    operation(result, at);
    return 0;
  });
  return makeElement(kind, words);
}

function binary<K extends Kind>(
  mcl: MclModule,
  kind: K,
  operation: (result: number, left: number, right: number) => void,
  left: Element<K>,
  right: Element<Kind>,
): Element<K> {
  const { words } = call(mcl, SIZE[kind], [wordsOf(left), wordsOf(right)], (result, leftAt = 0, rightAt = 0) => {
    operation(result, leftAt, rightAt);
    return 0;
  });
  return makeElement(kind, words);
}

function test(mcl: MclModule, predicate: (operand: number) => number, operand: Element<Kind>): boolean {
  return call(mcl, 0, [wordsOf(operand)], (_, at = 0) => predicate(at)).returned === 1;
}

function serialize(
  mcl: MclModule,
  write: (bytes: number, most: number, operand: number) => number,
  element: Element<Kind>,
  length: number,
): Uint8Array {
  const { words, returned } = call(mcl, length, [wordsOf(element)], (result, at = 0) => write(result, length, at));
  if (returned !== length) throw new Error(`mcl wrote ${returned} bytes of a ${element.kind}, not ${length}`);
  return new Uint8Array(words.buffer, 0, length);
}

/** Returns the element, or undefined if mcl does not read all bytes or would encode the element differently. */
function deserialize<K extends Kind>(
  kind: K,
  bytes: Uint8Array,
  library: {
    readonly mcl: MclModule;
    readonly read: (result: number, bytes: number, length: number) => number;
    readonly write: (bytes: number, most: number, operand: number) => number;
  },
): Element<K> | undefined {
  const { mcl, read, write } = library;
  const { words, returned } = call(mcl, SIZE[kind], [bytes], (result, at = 0) => read(result, at, bytes.length));
  if (returned !== bytes.length) return undefined;
  const element = makeElement(kind, words);
  return equalBytes(serialize(mcl, write, element, bytes.length), bytes) ? element : undefined;
}

function scalarsOf(mcl: MclModule): Scalars {
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

function pointsOf<K extends 'g1' | 'g2'>(mcl: MclModule, kind: K): Points<Element<K>> {
  const curve = functionsOf(mcl, kind === 'g1' ? 'G1' : 'G2');
  const library = { mcl, read: curve.read, write: curve.write };
  const decode = (bytes: Uint8Array): Element<K> | undefined => {
    if (bytes.length !== curve.encodedBytes) return undefined;
    // mcl checks curve and subgroup, but accepts several encodings of infinity: all of them are rejected here.
    const point = deserialize(kind, bytes, library);
    return point === undefined || test(mcl, curve.isZero, point) ? undefined : point;
  };
  const generator = decode(hexBytes(curve.generator));
  if (generator === undefined) throw new Error(`mcl refuses the generator of ${kind}`);
  return {
    generator,
    add: (a, b) => binary(mcl, kind, curve.add, a, b),
    negate: (a) => unary(mcl, kind, curve.negate, a),
    multiply: (point, by) => binary(mcl, kind, curve.multiply, point, by),
    multiplySecret: (point, by) => binary(mcl, kind, curve.multiplySecret, point, by),
    encode: (point) => serialize(mcl, curve.write, point, curve.encodedBytes),
    decode,
  };
}

function functionsOf(mcl: MclModule, curve: 'G1' | 'G2') {
  return {
    encodedBytes: curve === 'G1' ? G1_BYTES : G2_BYTES,
    generator: curve === 'G1' ? G1_GENERATOR : G2_GENERATOR,
    read: mcl[`_mclBn${curve}_deserialize`],
    write: mcl[`_mclBn${curve}_serialize`],
    isZero: mcl[`_mclBn${curve}_isZero`],
    negate: mcl[`_mclBn${curve}_neg`],
    add: mcl[`_mclBn${curve}_add`],
    multiply: mcl[`_mclBn${curve}_mul`],
    multiplySecret: mcl[`_mclBn${curve}_mulCT`],
  };
}

const COEFFICIENT_BYTES = 48;
const PAIRS_AT_ONCE = 64; // 27 kB of the wasm stack of 1 MB

function targetGroupOf(mcl: MclModule): TargetGroup {
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

function pairingProduct(mcl: MclModule, pairs: readonly PairingInput[]): GT {
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

const DST = ascii(ATTRIBUTE_DST);

/** Loads mcl, sets it up and checks known answers before anything else uses it. One instance for each thread is enough. */
export async function createMclGroup(): Promise<Group> {
  const mcl = await loadMcl();
  const group: Group = {
    name: 'mcl',
    scalars: scalarsOf(mcl),
    g1: pointsOf(mcl, 'g1'),
    g2: pointsOf(mcl, 'g2'),
    gt: targetGroupOf(mcl),
    hashToG1: (message) => hashToG1(mcl, message),
    pairingProduct: (pairs) => pairingProduct(mcl, pairs),
  };
  checkKnownAnswers(group);
  return group;
}

function hashToG1(mcl: MclModule, message: Uint8Array): G1 {
  const { words, returned } = call(mcl, SIZE.g1, [message, DST], (result, messageAt = 0, dstAt = 0) =>
    mcl._mclBnG1_hashAndMapToWithDst(result, messageAt, message.length, dstAt, DST.length),
  );
  if (returned !== 0) throw new Error('mcl could not hash to G1');
  return makeElement('g1', words);
}
