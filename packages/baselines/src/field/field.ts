/** Finite fields as ports for Shamir and Lagrange: a prime below 2^32, or the 2^16 elements that secrets are cut into. */

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
