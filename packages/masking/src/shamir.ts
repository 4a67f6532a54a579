/**
 * A secret dealt into shares, byte by byte over GF(2^8) (Shamir 1979): any `threshold` of them give it back, fewer tell nothing.
 *
 * Points are public, bytes of secrets are not: nothing here branches on a secret or indexes a table with one. The field is
 * that of AES, x^8 + x^4 + x^3 + x + 1.
 */

/** The share at a point from 1 to 255. `coefficients` are secret too, one array for each power of the point from 1 on. */
export function shareAt(secret: Uint8Array, coefficients: readonly Uint8Array[], point: number): Uint8Array {
  // Horner's rule, highest power first.
  const share = new Uint8Array(secret.length);
  for (const coefficient of [secret, ...coefficients].reverse()) {
    scale(share, point);
    addTo(share, coefficient);
  }
  return share;
}

/** The secret behind exactly as many shares as were needed. Their points are distinct and not zero. */
export function secretOf(shares: readonly { readonly point: number; readonly share: Uint8Array }[]): Uint8Array {
  const secret = new Uint8Array(shares[0]?.share.length ?? 0);
  for (const { point, share } of shares) {
    const weight = shares
      .filter((other) => other.point !== point)
      .reduce((product, other) => times(product, times(other.point, inverse(other.point ^ point))), 1);
    const part = share.slice();
    scale(part, weight);
    addTo(secret, part);
    part.fill(0);
  }
  return secret;
}

/** Times a public factor. */
function scale(bytes: Uint8Array, factor: number): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = times(bytes[i] as number, factor);
}

function addTo(sum: Uint8Array, bytes: Uint8Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) ^ (bytes[i] as number);
}

/** The same steps for every pair of bytes. */
function times(a: number, b: number): number {
  let product = 0;
  let doubled = a;
  for (let bit = 0; bit < 8; bit++) {
    product ^= doubled & -((b >> bit) & 1);
    doubled = ((doubled << 1) ^ (REDUCTION & -(doubled >> 7))) & 0xff;
  }
  return product;
}

const REDUCTION = 0x11b;

/** a^254, of a public byte that is not zero. */
function inverse(a: number): number {
  let power = 1;
  for (let n = 0; n < 254; n++) power = times(power, a);
  return power;
}
