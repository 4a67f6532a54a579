/** The sizes of ML-KEM-768 (FIPS 203, table 3), and the check that a received encapsulation key must pass before it is used. */

export const KEM_KEY_BYTES = 1184;
export const KEM_SECRET_BYTES = 2400;
export const KEM_CIPHERTEXT_BYTES = 1088;
/** d and z, of which a key pair is made. */
export const KEM_SEED_BYTES = 64;

const PRIME = 3329;
/** Three polynomials of 256 coefficients with 12 bits each; the seed of the matrix follows. */
const COEFFICIENT_BYTES = 1152;

/** Returns whether the bytes pass the input check of FIPS 203, section 7.2: the right length, and every coefficient below the prime. */
export function isKemKey(bytes: Uint8Array): boolean {
  if (bytes.length !== KEM_KEY_BYTES) return false;
  let isBelow = true;
  for (let i = 0; i < COEFFICIENT_BYTES; i += 3) {
    const [low, middle, high] = [bytes[i] as number, bytes[i + 1] as number, bytes[i + 2] as number];
    isBelow = (low | ((middle & 15) << 8)) < PRIME && ((middle >> 4) | (high << 4)) < PRIME && isBelow;
  }
  return isBelow;
}
