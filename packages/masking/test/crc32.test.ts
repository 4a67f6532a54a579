import { crc32 } from '@basa/masking';
import { describe, expect, it } from 'vitest';

/** Bit by bit, from the definition: x^32 + x^26 + ... + 1, reflected. */
function bitByBit(bytes: Uint8Array): number {
  let rest = 0xffffffff;
  for (const byte of bytes)
    for (let bit = 0; bit < 8; bit++) {
      const isOdd = ((rest ^ (byte >>> bit)) & 1) === 1;
      rest = (rest >>> 1) ^ (isOdd ? 0xedb88320 : 0);
    }
  return (rest ^ 0xffffffff) >>> 0;
}

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, n) => (n * n * 31 + n) & 255);

describe('crc32', () => {
  it('has the check value of the standard', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
    expect(crc32(new Uint8Array())).toBe(0);
  });

  it('is the remainder of the polynomial, for every length', () => {
    for (let length = 0; length < 40; length++) expect(crc32(bytesOf(length))).toBe(bitByBit(bytesOf(length)));
  });

  it('continues from the bytes before', () => {
    const bytes = bytesOf(100);
    for (const cut of [0, 1, 7, 8, 50, 100])
      expect(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut)))).toBe(crc32(bytes));
  });
});
