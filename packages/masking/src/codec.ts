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

/** Fits most statements of the protocol without growing. */
const FIRST_CAPACITY = 4096;

interface Room {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Rooms of finished writers, wiped: a message costs one allocation, its own. */
const spareRooms: Room[] = [];
const MOST_SPARE = 8;

/** Writes field after field into one room that grows. */
export class ByteWriter {
  #room: Room | undefined = spareRooms.pop() ?? roomOf(FIRST_CAPACITY);
  #length = 0;

  u8(value: number): this {
    checkRange(value, 0xff);
    const at = this.#length;
    this.#roomFor(1).bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    checkRange(value, 0xffff);
    const at = this.#length;
    this.#roomFor(2).view.setUint16(at, value, true);
    return this;
  }

  u32(value: number): this {
    checkRange(value, 0xffff_ffff);
    const at = this.#length;
    this.#roomFor(4).view.setUint32(at, value, true);
    return this;
  }

  u53(value: number): this {
    checkRange(value, Number.MAX_SAFE_INTEGER);
    const at = this.#length;
    const { view } = this.#roomFor(8);
    view.setUint32(at, value % 2 ** 32, true);
    view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
    return this;
  }

  f64(value: number): this {
    const at = this.#length;
    this.#roomFor(8).view.setFloat64(at, value, true);
    return this;
  }

  bytes(part: Uint8Array): this {
    const at = this.#length;
    this.#roomFor(part.length).bytes.set(part, at);
    return this;
  }

  shortBytes(part: Uint8Array): this {
    return this.u16(part.length).bytes(part);
  }

  /** A length of two bytes, then what `write` writes: at most so many bytes. */
  shortFrame(most: number, write: (writer: ByteWriter) => void): this {
    const at = this.#length;
    write(this.u16(0));
    const length = this.#length - at - 2;
    if (length > most) throw new RangeError(`${length} bytes exceed ${most}`);
    checkRange(length, 0xffff);
    this.#roomFor(0).view.setUint16(at, length, true);
    return this;
  }

  /** The message. The writer is used up. */
  finish(): Uint8Array {
    const message = this.#roomFor(0).bytes.slice(0, this.#length);
    this.#leave();
    return message;
  }

  /** What `use` makes of the message, which is wiped when it returns: nothing is copied. The writer is used up. */
  lend<Result>(use: (message: Uint8Array) => Result): Result {
    const message = this.#roomFor(0).bytes.subarray(0, this.#length);
    try {
      return use(message);
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    const room = this.#roomFor(0);
    this.#room = undefined;
    room.bytes.fill(0, 0, this.#length);
    if (spareRooms.length < MOST_SPARE && room.bytes.length === FIRST_CAPACITY) spareRooms.push(room);
  }

  /** The room, with space for so many bytes more. */
  #roomFor(more: number): Room {
    const room = this.#room;
    if (room === undefined) throw new Error('this writer is finished');
    this.#length += more;
    if (this.#length <= room.bytes.length) return room;
    const larger = roomOf(Math.max(2 * room.bytes.length, this.#length));
    larger.bytes.set(room.bytes);
    this.#room = larger;
    return larger;
  }
}

function roomOf(capacity: number): Room {
  const bytes = new Uint8Array(capacity);
  return { bytes, view: new DataView(bytes.buffer) };
}

function checkRange(value: number, most: number): void {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw new RangeError(`${value} is not an integer from 0 to ${most}`);
  }
}
