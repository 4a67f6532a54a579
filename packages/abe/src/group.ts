/** The port to a pairing library: BLS12-381 with opaque elements, the same bytes from every backend. */
import { ascii, equalBytes, type RandomBytes } from '@basa/masking';

export type Kind = 'scalar' | 'g1' | 'g2' | 'gt';

/** Elements show nothing of themselves and belong to the backend that made them. */
export interface Element<K extends Kind> {
  readonly kind: K;
}

/** An integer modulo the group order r. */
export type Scalar = Element<'scalar'>;
export type G1 = Element<'g1'>;
export type G2 = Element<'g2'>;
/** An element of the target group, written multiplicatively. */
export type GT = Element<'gt'>;

/** Arithmetic modulo the group order. */
export interface Scalars {
  /** 64 bytes, big-endian, reduced modulo r: the bias is below 2^-250. */
  reduce(wide: Uint8Array): Scalar;
  /** A small integer, not negative. */
  fromInteger(value: number): Scalar;
  add(a: Scalar, b: Scalar): Scalar;
  subtract(a: Scalar, b: Scalar): Scalar;
  multiply(a: Scalar, b: Scalar): Scalar;
  /** 1/a; a must not be zero. Variable time: see `invertSecret`. */
  invert(a: Scalar): Scalar;
  isZero(a: Scalar): boolean;
  /** 32 bytes, big-endian. */
  encode(a: Scalar): Uint8Array;
  /** Undefined for anything but 32 bytes of a number from 1 to r - 1. */
  decode(bytes: Uint8Array): Scalar | undefined;
  /** Overwrites a scalar that is used up. Best effort: the library may have copied it. */
  wipe(a: Scalar): void;
}

/** G1 or G2, written additively. */
export interface Points<Point> {
  readonly generator: Point;
  add(a: Point, b: Point): Point;
  negate(a: Point): Point;
  /** Variable time: for scalars that are public or used once by their owner. */
  multiply(point: Point, by: Scalar): Point;
  /** Constant time as far as the library supports it: for the authority's scalars. */
  multiplySecret(point: Point, by: Scalar): Point;
  /** Compressed, in the serialization of zcash and Ethereum. */
  encode(point: Point): Uint8Array;
  /** Undefined unless the bytes are the encoding of a point on the curve, in the subgroup, other than infinity. */
  decode(bytes: Uint8Array): Point | undefined;
}

export interface TargetGroup {
  /** Variable time. */
  power(a: GT, by: Scalar): GT;
  equal(a: GT, b: GT): boolean;
  /** The 12 coefficients of the tower Fp2, Fp6, Fp12, lower ones first, 48 bytes each, big-endian. */
  encode(a: GT): Uint8Array;
  /** Undefined unless the bytes are canonical and the element is of order r: neither 1 nor outside of the group. */
  decode(bytes: Uint8Array): GT | undefined;
}

export interface PairingInput {
  readonly g1: G1;
  readonly g2: G2;
}

export interface Group {
  readonly name: string;
  readonly scalars: Scalars;
  readonly g1: Points<G1>;
  readonly g2: Points<G2>;
  readonly gt: TargetGroup;
  /** The attribute hash H of the paper: RFC 9380, `ATTRIBUTE_DST`. */
  hashToG1(message: Uint8Array): G1;
  /** The product of e(g1, g2) over all pairs, with one final exponentiation. */
  pairingProduct(pairs: readonly PairingInput[]): GT;
}

export const G1_BYTES = 48;
export const G2_BYTES = 96;
export const GT_BYTES = 576;
export const SCALAR_BYTES = 32;
export const WIDE_BYTES = 64;

/** The suite id of RFC 9380 behind our own name, so that no other protocol hashes to the same points. */
export const ATTRIBUTE_DST = 'BASA-ABE-V1-ATTR-BLS12381G1_XMD:SHA-256_SSWU_RO_';

// Answers that a backend must give before it is used, so that another version or build of the library cannot differ silently.

/** Generators of the BLS12-381 standard (draft-irtf-cfrg-pairing-friendly-curves, 4.2.1), compressed. */
export const G1_GENERATOR =
  '97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb';
export const G2_GENERATOR =
  '93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e' +
  '024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8';

/** H("known answer"), and the first coefficient of e(g1, g2). Both from noble. */
const HASHED = 'b06f3c24815f58e0cd8d8cd7f6debde7ee17bbcc2712be120b8ab63bd58baaba1ec8d052643eadf83b4c7f7eaf42ed58';
const PAIRED = '1250ebd871fc0a92a7b2d83168d0d727272d441befa15c503dd8e90ce98db3e7b6d194f60839c508a84305aaca1789b6';

export function checkKnownAnswers(group: Group): void {
  const { g1, g2, gt } = group;
  const hashed = g1.encode(group.hashToG1(ascii('known answer')));
  const paired = gt.encode(group.pairingProduct([{ g1: g1.generator, g2: g2.generator }])).subarray(0, G1_BYTES);
  const isRight =
    equalBytes(g1.encode(g1.generator), hexBytes(G1_GENERATOR)) &&
    equalBytes(g2.encode(g2.generator), hexBytes(G2_GENERATOR)) &&
    equalBytes(hashed, hexBytes(HASHED)) &&
    equalBytes(paired, hexBytes(PAIRED));
  if (!isRight) throw new Error(`the ${group.name} backend fails its known-answer test`);
}

export function hexBytes(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

export function randomScalar(group: Group, randomBytes: RandomBytes): Scalar {
  return scalarFrom(group, randomBytes(WIDE_BYTES));
}

/** Takes ownership of the 64 bytes and wipes them. Zero occurs with probability 2^-255, or if the randomness is broken. */
export function scalarFrom(group: Group, wide: Uint8Array): Scalar {
  const scalar = group.scalars.reduce(wide);
  wide.fill(0);
  if (group.scalars.isZero(scalar)) throw new Error('the randomness gave a scalar of zero');
  return scalar;
}

/** The order r of G1, G2 and GT. */
const GROUP_ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n;
const EXPONENT_BITS = (GROUP_ORDER - 2n).toString(2);

/**
 * a^(r - 2), which is 1/a by Fermat. The same multiplications for every a, unlike the Euclidean inversions of the
 * libraries; half a millisecond.
 */
export function invertSecret(a: Scalar, { scalars }: Group): Scalar {
  let power = a;
  for (const bit of EXPONENT_BITS.slice(1)) {
    const before = power;
    power = scalars.multiply(power, power);
    if (before !== a) scalars.wipe(before);
    if (bit === '0') continue;
    const square = power;
    power = scalars.multiply(square, a);
    scalars.wipe(square);
  }
  return power;
}
