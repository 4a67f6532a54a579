/** UTF-8 without TextEncoder, which the language itself does not bring. */
import { ascii } from '@basa/masking';

/** Throws a URIError at half a surrogate pair, which has no encoding. */
export function utf8Bytes(text: string): Uint8Array {
  const escaped = encodeURIComponent(text);
  const bytes: number[] = [];
  for (let at = 0; at < escaped.length; at++) {
    if (escaped[at] === '%') {
      bytes.push(Number.parseInt(escaped.slice(at + 1, at + 3), 16));
      at += 2;
    } else bytes.push(...ascii(escaped.slice(at, at + 1)));
  }
  return Uint8Array.from(bytes);
}
