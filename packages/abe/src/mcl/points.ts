/** G1 and G2, by mcl. */
import type { Element, Points, Scalars } from '../group.ts';
import { G1_BYTES, G2_BYTES } from '../group.ts';
import { G1_GENERATOR, G2_GENERATOR, hexBytes } from '../known-answers.ts';
import type { MclModule } from './module.ts';
import { SIZE } from './module.ts';
import { binary, deserialize, fixedBase, serialize, test, unary } from './operations.ts';

export function pointsOf<K extends 'g1' | 'g2'>(mcl: MclModule, scalars: Scalars, kind: K): Points<Element<K>> {
  const curve = kind === 'g1' ? g1Functions(mcl) : g2Functions(mcl);
  const library = { mcl, read: curve.read, write: curve.write };
  const decode = (bytes: Uint8Array): Element<K> | undefined => {
    if (bytes.length !== curve.encodedBytes) return undefined;
    // mcl checks curve and subgroup, but takes infinity in several spellings: all are refused here.
    const point = deserialize(kind, bytes, library);
    return point === undefined || test(mcl, curve.isZero, point) ? undefined : point;
  };
  const generator = decode(hexBytes(curve.generator));
  if (generator === undefined) throw new Error(`mcl refuses the generator of ${kind}`);
  const operations = { size: SIZE[kind], add: curve.add, negate: curve.negate, normalize: curve.normalize };
  return {
    generator,
    add: (a, b) => binary(mcl, kind, curve.add, a, b),
    negate: (a) => unary(mcl, kind, curve.negate, a),
    multiply: (point, by) => binary(mcl, kind, curve.multiply, point, by),
    multiplySecret: (point, by) => binary(mcl, kind, curve.multiplySecret, point, by),
    fixedBase: (point) => fixedBase(kind, point, { mcl, scalars, operations }),
    encode: (point) => serialize(mcl, curve.write, point, curve.encodedBytes),
    decode,
  };
}

function g1Functions(mcl: MclModule) {
  return {
    encodedBytes: G1_BYTES,
    generator: G1_GENERATOR,
    read: mcl._mclBnG1_deserialize,
    write: mcl._mclBnG1_serialize,
    isZero: mcl._mclBnG1_isZero,
    negate: mcl._mclBnG1_neg,
    add: mcl._mclBnG1_add,
    multiply: mcl._mclBnG1_mul,
    multiplySecret: mcl._mclBnG1_mulCT,
    normalize: mcl._mclBnG1_normalizeVec,
  };
}

function g2Functions(mcl: MclModule) {
  return {
    encodedBytes: G2_BYTES,
    generator: G2_GENERATOR,
    read: mcl._mclBnG2_deserialize,
    write: mcl._mclBnG2_serialize,
    isZero: mcl._mclBnG2_isZero,
    negate: mcl._mclBnG2_neg,
    add: mcl._mclBnG2_add,
    multiply: mcl._mclBnG2_mul,
    multiplySecret: mcl._mclBnG2_mulCT,
    normalize: mcl._mclBnG2_normalizeVec,
  };
}
