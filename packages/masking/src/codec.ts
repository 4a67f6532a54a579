/** Bounded reading and writing of binary layouts. Integers are little-endian, like the vectors. */

/** Thrown for hostile or corrupt bytes, only by decoders; names the field that is wrong. */
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
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  u8(field: string): number {
    return this.#bytes[this.#advance(field, 1)] as number;
  }

  u16(field: string): number {
    const at = this.#advance(field, 2);
    return (this.#bytes[at] as number) | ((this.#bytes[at + 1] as number) << 8);
  }

  u32(field: string): number {
    return u32At(this.#bytes, this.#advance(field, 4));
  }

  /** An unsigned 64-bit integer of at most 2^53 - 1. */
  u53(field: string): number {
    const at = this.#advance(field, 8);
    const high = u32At(this.#bytes, at + 4);
    if (high >= 2 ** 21) throw new DecodeError(field, 'larger than 2^53 - 1');
    return high * 2 ** 32 + u32At(this.#bytes, at);
  }

  f64(field: string): number {
    const { buffer, byteOffset } = this.#bytes;
    return new DataView(buffer, byteOffset).getFloat64(this.#advance(field, 8), true);
  }

  bytes(field: string, length: number): Uint8Array {
    const start = this.#advance(field, length);
    return this.#bytes.subarray(start, start + length);
  }

  /** The same as a copy. */
  copiedBytes(field: string, length: number): Uint8Array {
    const start = this.#advance(field, length);
    return this.#bytes.slice(start, start + length);
  }

  /** A length of two bytes, checked against its bound before anything is read or allocated, then the bytes. */
  shortBytes(field: string, max: number): Uint8Array {
    const length = this.u16(`${field} length`);
    if (length > max) throw new DecodeError(`${field} length`, `${length} exceeds ${max}`);
    return this.bytes(field, length);
  }

  /** Refuses trailing bytes. */
  end(what: string): void {
    if (this.remaining > 0) throw new DecodeError(what, `${this.remaining} bytes too long`);
  }

  #advance(field: string, length: number): number {
    if (length > this.#bytes.length - this.#at) {
      throw new DecodeError(field, `truncated: ${length} bytes needed, ${this.remaining} left`);
    }
    const start = this.#at;
    this.#at += length;
    return start;
  }
}

/**
 * Collects field after field: numbers as their bytes, byte arrays as they are, so that a message costs one allocation, its own.
 * An array that was given must not change before the message is made.
 */
export class ByteWriter {
  #parts: (number | Uint8Array)[] | undefined = [];
  #length = 0;

  u8(value: number): this {
    checkRange(value, 0xff);
    this.#open(1).push(value);
    return this;
  }

  u16(value: number): this {
    checkRange(value, 0xffff);
    this.#open(2).push(value & 0xff, value >>> 8);
    return this;
  }

  u32(value: number): this {
    checkRange(value, 0xffff_ffff);
    pushU32(this.#open(4), value);
    return this;
  }

  u53(value: number): this {
    checkRange(value, Number.MAX_SAFE_INTEGER);
    const parts = this.#open(8);
    pushU32(parts, value % 2 ** 32);
    pushU32(parts, Math.floor(value / 2 ** 32));
    return this;
  }

  f64(value: number): this {
    const part = new Uint8Array(8);
    new DataView(part.buffer).setFloat64(0, value, true);
    return this.bytes(part);
  }

  bytes(part: Uint8Array): this {
    this.#open(part.length).push(part);
    return this;
  }

  shortBytes(part: Uint8Array): this {
    return this.u16(part.length).bytes(part);
  }

  /** Writes a length of two bytes, then the output of `write`: at most `max` bytes. */
  shortFrame(max: number, write: (writer: ByteWriter) => void): this {
    const parts = this.#open(2);
    const at = parts.push(0, 0) - 2;
    const before = this.#length;
    write(this);
    const length = this.#length - before;
    if (length > max) throw new RangeError(`${length} bytes exceed ${max}`);
    checkRange(length, 0xffff);
    parts[at] = length & 0xff;
    parts[at + 1] = length >>> 8;
    return this;
  }

  /** Returns the message. The writer is used up. */
  finish(): Uint8Array {
    const parts = this.#open(0);
    this.#parts = undefined;
    const message = new Uint8Array(this.#length);
    let at = 0;
    for (const part of parts) {
      if (typeof part === 'number') {
        message[at++] = part;
      } else {
        message.set(part, at);
        at += part.length;
      }
    }
    return message;
  }

  /** Passes the message to `use`, returns its result, and wipes the message. The writer is used up. */
  lend<Result>(use: (message: Uint8Array) => Result): Result {
    const message = this.finish();
    try {
      return use(message);
    } finally {
      message.fill(0);
    }
  }

  /** Returns the parts and counts `more` bytes that the caller will add; throws if the writer is finished. */
  #open(more: number): (number | Uint8Array)[] {
    if (this.#parts === undefined) throw new Error('this writer is finished');
    this.#length += more;
    return this.#parts;
  }
}

function u32At(bytes: Uint8Array, at: number): number {
  const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] as [number, number, number, number];
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}

/** Four bytes, the lowest first. */
function pushU32(parts: (number | Uint8Array)[], value: number): void {
  parts.push(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24);
}

function checkRange(value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new RangeError(`${value} is not an integer from 0 to ${max}`);
  }
}
