/** Assembles bytes for the file formats of other tools; all numbers are little-endian. */

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function f32(values: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  for (let n = 0; n < values.length; n++) view.setFloat32(4 * n, values[n] as number, true);
  return bytes;
}
