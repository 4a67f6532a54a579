/** The inputs that a strict Ed25519 check rejects before any arithmetic, the same in every runtime. */

// y-coordinates of the eight points of small order, little-endian, sign bit clear (RFC 7748 section 6.1 lists their Montgomery images).
// With these keys, a signature can be valid for messages that were never signed.
const SMALL_ORDER_Y = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(bytesOf);

/** L, the order of the base point, little-endian. */
const GROUP_ORDER = bytesOf('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010');

/** p = 2^255 - 19, little-endian. */
const FIELD_ORDER = bytesOf('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f');

/** Right lengths, a canonical key that is not of small order, S below L. */
export function isStrictSignature(signature: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.length !== 64 || publicKey.length !== 32) return false;
  const y = Uint8Array.from(publicKey); // `slice` of a Buffer is the same memory
  y[31] = (y[31] as number) & 0x7f;
  return (
    compare(y, FIELD_ORDER) < 0 &&
    SMALL_ORDER_Y.every((small) => compare(y, small) !== 0) &&
    compare(signature.subarray(32), GROUP_ORDER) < 0
  );
}

/** Little-endian numbers of one length: below, equal or above zero as the first is to the second. */
function compare(one: Uint8Array, other: Uint8Array): number {
  for (let n = one.length - 1; n >= 0; n--) {
    const difference = (one[n] as number) - (other[n] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
