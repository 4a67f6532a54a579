/** The fallback without WebAssembly, and the independent oracle of the tests: noble-curves. Ten times slower. */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import {
  ATTRIBUTE_DST,
  checkKnownAnswers,
  type Element,
  G1_BYTES,
  G2_BYTES,
  type Group,
  GT_BYTES,
  type Kind,
  type Points,
  SCALAR_BYTES,
  type Scalars,
  type TargetGroup,
  WIDE_BYTES,
} from './group.ts';

const { Fr, Fp12 } = bls12_381.fields;

type Fp12Element = typeof Fp12.ONE;
type G1Point = typeof bls12_381.G1.Point.BASE;
type G2Point = typeof bls12_381.G2.Point.BASE;

interface Values {
  scalar: bigint;
  g1: G1Point;
  g2: G2Point;
  gt: Fp12Element;
}

/** The value sits in a private field, so that no element prints. */
class NobleElement<K extends Kind> implements Element<K> {
  readonly kind: K;
  #value: Values[K];

  constructor(kind: K, value: Values[K]) {
    this.kind = kind;
    this.#value = value;
  }

  static value<K extends Kind>(element: Element<K>): Values[K] {
    if (!(element instanceof NobleElement)) throw new TypeError(`this ${element.kind} is not of the noble backend`);
    return (element as NobleElement<K>).#value;
  }

  static wipe(element: Element<'scalar'>): void {
    if (element instanceof NobleElement) element.#value = 0n;
  }
}

const make = <K extends Kind>(kind: K, value: Values[K]): Element<K> => new NobleElement(kind, value);
const read = NobleElement.value;

export function createNobleGroup(): Group {
  const group: Group = {
    name: 'noble',
    scalars,
    g1: points('g1', bls12_381.G1.Point, G1_BYTES),
    g2: points('g2', bls12_381.G2.Point, G2_BYTES),
    gt,
    hashToG1: (message) => make('g1', bls12_381.G1.hashToCurve(message, { DST: ATTRIBUTE_DST })),
    pairingProduct(pairs) {
      if (pairs.length === 0) throw new RangeError('a pairing product needs a pair');
      const values = pairs.map((pair) => ({ g1: read(pair.g1), g2: read(pair.g2) }));
      return make('gt', bls12_381.pairingBatch(values));
    },
  };
  checkKnownAnswers(group);
  return group;
}

const scalars: Scalars = {
  reduce(wide) {
    if (wide.length !== WIDE_BYTES) throw new RangeError(`a scalar is made of ${WIDE_BYTES} bytes`);
    return make('scalar', integer(wide) % Fr.ORDER);
  },
  fromInteger: (value) => make('scalar', BigInt(value)),
  add: (a, b) => make('scalar', Fr.add(read(a), read(b))),
  subtract: (a, b) => make('scalar', Fr.sub(read(a), read(b))),
  multiply: (a, b) => make('scalar', Fr.mul(read(a), read(b))),
  invert: (a) => make('scalar', Fr.inv(read(a))),
  isZero: (a) => read(a) === 0n,
  encode: (a) => Fr.toBytes(read(a)),
  decode(bytes) {
    const value = bytes.length === SCALAR_BYTES ? integer(bytes) : 0n;
    return value === 0n || value >= Fr.ORDER ? undefined : make('scalar', value);
  },
  wipe: NobleElement.wipe,
};

const gt: TargetGroup = {
  power: (a, by) => make('gt', Fp12.pow(read(a), read(by))),
  equal: (a, b) => Fp12.eql(read(a), read(b)),
  encode: (a) => Fp12.toBytes(read(a)),
  decode(bytes) {
    if (bytes.length !== GT_BYTES) return undefined;
    const value = attempt(() => Fp12.fromBytes(bytes));
    if (value === undefined || Fp12.is0(value) || Fp12.eql(value, Fp12.ONE)) return undefined;
    return Fp12.eql(Fp12.pow(value, Fr.ORDER), Fp12.ONE) ? make('gt', value) : undefined;
  },
};

/** The operations that both curves of noble offer. */
interface NoblePoint<Point> {
  add(other: Point): Point;
  negate(): Point;
  multiply(by: bigint): Point;
  multiplyUnsafe(by: bigint): Point;
  toBytes(isCompressed: boolean): Uint8Array;
  is0(): boolean;
  assertValidity(): void;
}

function points<K extends 'g1' | 'g2'>(
  kind: K,
  curve: { readonly BASE: Values[K]; fromBytes(bytes: Uint8Array): Values[K] },
  encodedBytes: number,
): Points<Element<K>> {
  const pointOf = (element: Element<K>): NoblePoint<Values[K]> => read(element) as unknown as NoblePoint<Values[K]>;
  return {
    generator: make(kind, curve.BASE),
    add: (a, b) => make(kind, pointOf(a).add(read(b))),
    negate: (a) => make(kind, pointOf(a).negate()),
    multiply: (point, by) => make(kind, pointOf(point).multiplyUnsafe(read(by))),
    multiplySecret: (point, by) => make(kind, pointOf(point).multiply(read(by))),
    encode: (point) => pointOf(point).toBytes(true),
    decode(bytes) {
      if (bytes.length !== encodedBytes) return undefined;
      const point = attempt(() => {
        const decoded = make(kind, curve.fromBytes(bytes));
        pointOf(decoded).assertValidity(); // curve and subgroup
        return decoded;
      });
      return point === undefined || pointOf(point).is0() ? undefined : point;
    },
  };
}

/** noble throws at malformed bytes; the port answers undefined. */
function attempt<Result>(decode: () => Result): Result | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

function integer(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
