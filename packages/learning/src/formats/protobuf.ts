/** Fields of protocol buffers, written only (protobuf.dev/programming-guides/encoding). A message is its fields one after the other. */
import { f32, joinBytes } from './bytes.ts';
import { utf8 } from './text.ts';

const WIRE = { varint: 0, length: 2, fixed32: 5 } as const;

/** Writes an integer that is not negative. */
export function intField(field: number, value: number): Uint8Array {
  return joinBytes([varint(8 * field + WIRE.varint), varint(value)]);
}

export function floatField(field: number, value: number): Uint8Array {
  return joinBytes([varint(8 * field + WIRE.fixed32), f32([value])]);
}

export function bytesField(field: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return joinBytes([varint(8 * field + WIRE.length), varint(length), ...parts]);
}

export function textField(field: number, text: string): Uint8Array {
  return bytesField(field, utf8(text));
}

/** Seven bits per byte, the lowest first; the top bit says that more follow. */
function varint(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a whole number from 0 on`);
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.from([...bytes, rest]);
}
