/** mcl's functions on addresses prepared beforehand, without copies, encodings or checks: the reference for the scheme. */
import { ATTRIBUTE_DST, createMclGroup } from '@basa/abe';
import { loadMcl, SIZE } from '@basa/abe/internal/mcl/module.ts';

export interface BareOperations {
  readonly g1Multiply: () => void;
  readonly g2Multiply: () => void;
  readonly gtPower: () => void;
  readonly hashToG1: () => void;
  readonly hashAndMultiply: () => void;
  readonly pairing: () => void;
  /** Three Miller loops in one and one final exponentiation. */
  readonly product3: () => void;
}

export async function bareOperations(): Promise<BareOperations> {
  const mcl = await loadMcl();
  const { g1, g2, scalars } = await createMclGroup();
  const put = (bytes: Uint8Array): number => {
    const address = mcl._malloc(bytes.length);
    mcl.HEAP8.set(bytes, address);
    return address;
  };
  const multiples = [3, 5, 7].map((n) => scalars.reduce(new Uint8Array(64).fill(n)));
  const g1s = mcl._malloc(3 * SIZE.g1);
  const g2s = mcl._malloc(3 * SIZE.g2);
  multiples.forEach((by, i) => {
    const [p, q] = [g1.encode(g1.multiply(g1.generator, by)), g2.encode(g2.multiply(g2.generator, by))];
    if (mcl._mclBnG1_deserialize(g1s + i * SIZE.g1, put(p), p.length) === 0) throw new Error('no point of G1');
    if (mcl._mclBnG2_deserialize(g2s + i * SIZE.g2, put(q), q.length) === 0) throw new Error('no point of G2');
  });
  const wide = new Uint8Array(64).fill(9);
  const scalar = mcl._malloc(SIZE.scalar);
  if (mcl._mclBnFr_setBigEndianMod(scalar, put(wide), wide.length) !== 0) throw new Error('no scalar');
  const message = put(wide.subarray(0, 32)); // an attribute of BASA has 32 bytes
  const dst = put(Uint8Array.from(Buffer.from(ATTRIBUTE_DST)));
  const result = mcl._malloc(SIZE.gt);
  const element = mcl._malloc(SIZE.gt);
  const product = (count: number): void => {
    mcl._mclBn_millerLoopVec(result, g1s, g2s, count);
    mcl._mclBn_finalExp(result, result);
  };
  product(1);
  mcl.HEAP8.copyWithin(element, result, result + SIZE.gt);
  const hash = (): void => void mcl._mclBnG1_hashAndMapToWithDst(result, message, 32, dst, ATTRIBUTE_DST.length);
  return {
    g1Multiply: () => mcl._mclBnG1_mul(result, g1s, scalar),
    g2Multiply: () => mcl._mclBnG2_mul(result, g2s, scalar),
    gtPower: () => mcl._mclBnGT_pow(result, element, scalar),
    hashToG1: hash,
    hashAndMultiply() {
      hash();
      mcl._mclBnG1_mul(result, result, scalar);
    },
    pairing: () => product(1),
    product3: () => product(3),
  };
}
