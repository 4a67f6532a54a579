/** The few byte helpers that the pure packages need and ES2022 does not offer. */

/** ASCII text as bytes: for domain labels, which are ASCII by construction. */
export function ascii(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) throw new RangeError(`not ASCII at character ${i}: ${JSON.stringify(text)}`);
    bytes[i] = code;
  }
  return bytes;
}

/** Returns one array holding the parts one after the other. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** True if two byte strings are equal. The time does not depend on the position of a difference. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] as number) ^ (b[i] as number);
  return difference === 0;
}

const DIGITS: Uint8Array = ascii('0123456789abcdef');

/** The number of bytes converted to text at a time: a hash in one piece, because a string of many pieces is slow to look up. */
const PIECE_BYTES = 32;

/** Lower-case hexadecimal: byte strings as keys of maps. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    const end = Math.min(bytes.length, start + PIECE_BYTES);
    const codes = new Array<number>(2 * (end - start));
    for (let i = start, n = 0; i < end; i++) {
      const byte = bytes[i] as number;
      codes[n++] = DIGITS[byte >> 4] as number;
      codes[n++] = DIGITS[byte & 15] as number;
    }
    text += String.fromCharCode(...codes);
  }
  return text;
}

/** The bytes of lower-case hexadecimal; undefined for any other text. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const byte = 16 * digitOf(text.charCodeAt(2 * i)) + digitOf(text.charCodeAt(2 * i + 1));
    if (Number.isNaN(byte)) return undefined;
    bytes[i] = byte;
  }
  return bytes;
}

function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : Number.NaN;
}
