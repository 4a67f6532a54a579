/** Bounded reading and writing of binary layouts. Integers are little-endian, like the vectors. */

/** Hostile or corrupt bytes: names the field that is wrong. Thrown by decoders only. */
export class DecodeError extends Error {
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`${field}: ${problem}`);
    this.name = 'DecodeError';
    this.field = field;
  }
}

/** Reads field after field; a read past the end names its field. Byte strings are views, not copies. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  u8(field: string): number {
    return this.#view.getUint8(this.#advance(field, 1));
  }

  u16(field: string): number {
    return this.#view.getUint16(this.#advance(field, 2), true);
  }

  u32(field: string): number {
    return this.#view.getUint32(this.#advance(field, 4), true);
  }

  /** An unsigned 64-bit integer of at most 2^53 - 1. */
  u53(field: string): number {
    const value = this.#view.getBigUint64(this.#advance(field, 8), true);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new DecodeError(field, 'larger than 2^53 - 1');
    return Number(value);
  }

  f64(field: string): number {
    return this.#view.getFloat64(this.#advance(field, 8), true);
  }

  bytes(field: string, length: number): Uint8Array {
    const start = this.#advance(field, length);
    return this.#bytes.subarray(start, start + length);
  }

  /** A length of two bytes, checked against its bound before anything is read or allocated, then the bytes. */
  shortBytes(field: string, most: number): Uint8Array {
    const length = this.u16(`${field} length`);
    if (length > most) throw new DecodeError(`${field} length`, `${length} exceeds ${most}`);
    return this.bytes(field, length);
  }

  /** Refuses trailing bytes. */
  end(what: string): void {
    if (this.remaining > 0) throw new DecodeError(what, `${this.remaining} bytes too long`);
  }

  #advance(field: string, length: number): number {
    if (length > this.remaining) {
      throw new DecodeError(field, `truncated: ${length} bytes needed, ${this.remaining} left`);
    }
    const start = this.#at;
    this.#at += length;
    return start;
  }
}

/** Collects fields and joins them once. */
export class ByteWriter {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  u8(value: number): this {
    return this.bytes(Uint8Array.of(checkRange(value, 0xff)));
  }

  u16(value: number): this {
    return this.#number(2, (view) => view.setUint16(0, checkRange(value, 0xffff), true));
  }

  u32(value: number): this {
    return this.#number(4, (view) => view.setUint32(0, checkRange(value, 0xffff_ffff), true));
  }

  u53(value: number): this {
    return this.#number(8, (view) => view.setBigUint64(0, BigInt(checkRange(value, Number.MAX_SAFE_INTEGER)), true));
  }

  f64(value: number): this {
    return this.#number(8, (view) => view.setFloat64(0, value, true));
  }

  bytes(part: Uint8Array): this {
    this.#parts.push(part);
    this.#length += part.length;
    return this;
  }

  shortBytes(part: Uint8Array): this {
    return this.u16(part.length).bytes(part);
  }

  finish(): Uint8Array {
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const part of this.#parts) {
      whole.set(part, offset);
      offset += part.length;
    }
    return whole;
  }

  #number(length: number, write: (view: DataView) => void): this {
    const bytes = new Uint8Array(length);
    write(new DataView(bytes.buffer));
    return this.bytes(bytes);
  }
}

function checkRange(value: number, most: number): number {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw new RangeError(`${value} is not an integer from 0 to ${most}`);
  }
  return value;
}
