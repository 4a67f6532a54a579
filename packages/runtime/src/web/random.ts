/** Random bytes from WebCrypto, which gives at most 65,536 a call. */
const MAX_AT_ONCE = 65_536;

export function webRandomBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let start = 0; start < length; start += MAX_AT_ONCE) {
    crypto.getRandomValues(bytes.subarray(start, start + MAX_AT_ONCE));
  }
  return bytes;
}
