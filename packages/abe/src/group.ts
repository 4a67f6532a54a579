/** The port to a pairing library: BLS12-381 with opaque elements, the same bytes from every backend. */

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
