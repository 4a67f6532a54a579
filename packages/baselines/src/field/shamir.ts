/** Shamir's secret sharing: t points of a random polynomial give its value at 0, t - 1 points reveal nothing. */
import { ByteReader, ByteWriter, type RandomBytes, Secret } from '@basa/masking';
import { BINARY_FIELD, type Field } from './field.ts';
import { interpolation } from './lagrange.ts';

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
