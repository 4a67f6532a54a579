/** Finite fields as ports for Shamir and Lagrange: a prime below 2^32, or the 2^16 elements that secrets are cut into. */
import { ByteReader, ByteWriter, type RandomBytes, Secret } from '@basa/masking';

export interface Field {
  readonly order: number;
  add(a: number, b: number): number;
  subtract(a: number, b: number): number;
  /** The second factor is public: in a field that promises it, the time depends only on that factor. */
  multiply(a: number, publicFactor: number): number;
  /** Of a public element other than zero. */
  invert(a: number): number;
}

/** Z modulo a prime of at most 32 bits. Products are exact: one factor goes in 16 bits at a time. */
export function primeField(order: number): Field {
  if (!Number.isInteger(order) || order < 2 || order > 2 ** 32) throw new RangeError(`no prime below 2^32: ${order}`);
  const multiply = (a: number, b: number): number => {
    const high = (a * Math.floor(b / 65_536)) % order;
    return (high * 65_536 + a * (b % 65_536)) % order;
  };
  return {
    order,
    add: (a, b) => (a + b) % order,
    subtract: (a, b) => (a >= b ? a - b : a - b + order),
    multiply,
    invert: (a) => powerOf(multiply, a, order - 2),
  };
}

/** x^16 + x^12 + x^3 + x + 1, without its top bit. */
const REDUCTION = 0x100b;

/**
 * GF(2^16): an element has two bytes, so a secret of 32 bytes has shares of 32 bytes and needs no encoding. The loop over the public
 * factor's bits never branches on the secret one.
 */
export const BINARY_FIELD: Field = {
  order: 65_536,
  add: (a, b) => a ^ b,
  subtract: (a, b) => a ^ b,
  multiply: multiplyBinary,
  invert: (a) => powerOf(multiplyBinary, a, 65_534),
};

function multiplyBinary(a: number, publicFactor: number): number {
  let product = 0;
  let shifted = a;
  for (let bits = publicFactor; bits !== 0; bits >>>= 1) {
    if ((bits & 1) === 1) product ^= shifted;
    shifted = ((shifted << 1) & 0xffff) ^ (-(shifted >>> 15) & REDUCTION);
  }
  return product;
}

/** a^(order - 2) = 1 / a (Fermat). */
function powerOf(multiply: Field['multiply'], base: number, exponent: number): number {
  let power = 1;
  let square = base;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(power, square);
    square = multiply(square, square);
  }
  return power;
}

// Lagrange's coefficients: the value at a point of the polynomial that takes given values at the nodes.

export interface Interpolation {
  /** lambda_j(at) with f(at) = sum_j lambda_j(at) f(x_j), for every f of degree below the number of nodes. */
  coefficientsAt(at: number): Uint32Array;
}

/** Computes the part that depends only on the nodes once: 1 / prod_{l != j} (x_j - x_l). */
export function interpolation(field: Field, nodes: readonly number[]): Interpolation {
  const weights = nodes.map((node, j) => {
    let product = 1;
    for (const [l, other] of nodes.entries()) {
      if (l !== j) product = field.multiply(product, field.subtract(node, other));
    }
    if (product === 0) throw new RangeError(`node ${node} is there twice`);
    return field.invert(product);
  });
  return {
    coefficientsAt(at) {
      // prod_{l != j} (at - x_l) from the products before and after j: nothing is divided, and `at` may be a node.
      const coefficients = new Uint32Array(nodes.length);
      let before = 1;
      for (const [j, node] of nodes.entries()) {
        coefficients[j] = field.multiply(before, weights[j] as number);
        before = field.multiply(before, field.subtract(at, node));
      }
      let after = 1;
      for (let j = nodes.length - 1; j >= 0; j--) {
        coefficients[j] = field.multiply(coefficients[j] as number, after);
        after = field.multiply(after, field.subtract(at, nodes[j] as number));
      }
      return coefficients;
    },
  };
}

// Shamir's secret sharing: t points of a random polynomial give its value at 0, t - 1 points reveal nothing.

/** Returns `count` uniform elements of a field. */
export type RandomElements = (count: number) => Uint32Array;

/** Shares each element of the secret with its own polynomial: f(0) is the element, f(point) the share. */
export function shareElements(
  field: Field,
  secret: Uint32Array,
  { threshold, points }: { readonly threshold: number; readonly points: readonly number[] },
  randomElements: RandomElements,
): Uint32Array[] {
  if (!(threshold >= 1 && threshold <= points.length)) {
    throw new RangeError(`threshold ${threshold} of ${points.length} points`);
  }
  const coefficients = Array.from({ length: threshold - 1 }, () => randomElements(secret.length));
  const shares = points.map((point) => {
    const share = new Uint32Array(secret.length);
    // Horner, from the coefficient of x^(t-1) down to the secret.
    for (const coefficient of [...coefficients, secret]) {
      for (let k = 0; k < share.length; k++) {
        share[k] = field.add(field.multiply(share[k] as number, point), coefficient[k] as number);
      }
    }
    return share;
  });
  for (const coefficient of coefficients) coefficient.fill(0);
  return shares;
}

/** f(0) = sum_j lambda_j(0) f(x_j). The coefficients are an argument, so that a caller with many secrets computes them once. */
export function reconstructElements(
  field: Field,
  coefficients: Uint32Array,
  shares: readonly Uint32Array[],
): Uint32Array {
  const secret = new Uint32Array(shares[0]?.length ?? 0);
  for (const [j, share] of shares.entries()) {
    for (let k = 0; k < secret.length; k++) {
      secret[k] = field.add(secret[k] as number, field.multiply(share[k] as number, coefficients[j] as number));
    }
  }
  return secret;
}

/** Returns shares of a byte string of even length; each share is as long as the string. */
export function shareSecret(
  secret: Secret,
  scheme: { readonly threshold: number; readonly points: readonly number[] },
  randomBytes: RandomBytes,
): Secret[] {
  const elements = toElements(secret.reveal());
  const shares = shareElements(BINARY_FIELD, elements, scheme, (count) => toElements(randomBytes(2 * count)));
  elements.fill(0);
  return shares.map((share) => new Secret(toBytes(share)));
}

/**
 * Reconstructs many secrets. The set of responders decides the coefficients, and the same set occurs again and again,
 * so they are cached.
 */
export class Reconstruction {
  readonly #known = new Map<string, Uint32Array>();

  /** Returns the secret whose shares at these points are given: exactly as many as its threshold. */
  secretOf(points: readonly number[], shares: readonly Secret[]): Secret {
    const elements = shares.map((share) => toElements(share.reveal()));
    const secret = reconstructElements(BINARY_FIELD, this.#coefficients(points), elements);
    const bytes = toBytes(secret);
    for (const part of elements) part.fill(0);
    return new Secret(bytes);
  }

  #coefficients(points: readonly number[]): Uint32Array {
    const name = points.join();
    const known = this.#known.get(name) ?? interpolation(BINARY_FIELD, points).coefficientsAt(0);
    this.#known.set(name, known);
    return known;
  }
}

function toElements(bytes: Uint8Array): Uint32Array {
  const reader = new ByteReader(bytes);
  return Uint32Array.from({ length: bytes.length / 2 }, () => reader.u16('element'));
}

/** The bytes of elements, which are overwritten. */
function toBytes(elements: Uint32Array): Uint8Array {
  const writer = new ByteWriter();
  for (const element of elements) writer.u16(element);
  elements.fill(0);
  return writer.finish();
}
