/** G1 and G2, by mcl. */
import { type Element, G1_BYTES, G2_BYTES, type Points } from '../group.ts';
import { G1_GENERATOR, G2_GENERATOR, hexBytes } from '../known-answers.ts';
import type { MclModule } from './module.ts';
import { binary, deserialize, serialize, test, unary } from './operations.ts';

export function pointsOf<K extends 'g1' | 'g2'>(mcl: MclModule, kind: K): Points<Element<K>> {
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
