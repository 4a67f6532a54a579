/** UTF-8 in both directions, which ES2022 itself does not offer. */

export function utf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const letter of text) {
    const code = letter.codePointAt(0) as number;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x1_0000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else {
      const tail = [0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)];
      bytes.push(0xf0 | (code >> 18), ...tail);
    }
  }
  return Uint8Array.from(bytes);
}

/** Malformed bytes become U+FFFD: the reader of the text checks it. */
export function utf8Text(bytes: Uint8Array): string {
  const letters: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at++] as number;
    if (first < 0x80) {
      letters.push(String.fromCharCode(first));
      continue;
    }
    const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    let code = first & (0x3f >> more);
    for (let n = 0; n < more; n++) code = (code << 6) | ((bytes[at++] ?? 0) & 63);
    letters.push(code > 0x10_ffff ? '\ufffd' : String.fromCodePoint(code));
  }
  return letters.join('');
}
