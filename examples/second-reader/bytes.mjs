// The encoding of docs/wire-format.md ("Encoding"): a type is a pair of functions, value to bytes and bytes to value.
import { createHash, hkdfSync } from 'node:crypto';

export const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
export const hkdf = (secret, salt, info, length = 32) => Buffer.from(hkdfSync('sha256', secret, salt, info, length));
export const header = (kind) => Buffer.of(4, 1, kind);
export const zeros = (length) => Buffer.alloc(length);

/** Fails loudly: what a service said is not what the page promises. */
export function must(holds, what) {
  if (!holds) throw new Error(`refused by this device: ${what}`);
}

class Reader {
  constructor(bytes) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }
  take(length) {
    must(this.at + length <= this.bytes.length, 'a layout that is cut short');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/** Reads one value and nothing after it. */
export function readAll(type, bytes) {
  const reader = new Reader(bytes);
  const value = type.read(reader);
  must(reader.at === bytes.length, 'a byte after the last field');
  return value;
}

const integer = (length) => ({
  write: (value) => {
    const bytes = Buffer.alloc(length);
    bytes.writeUIntLE(value, 0, length);
    return bytes;
  },
  read: (reader) => reader.take(length).readUIntLE(0, length),
});
export const u8 = integer(1);
export const u16 = integer(2);
export const u32 = integer(4);
export const u53 = {
  write: (value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    return bytes;
  },
  read: (reader) => {
    const value = reader.take(8).readBigUInt64LE();
    must(value < 2n ** 53n, 'a u53 of 2^53 or more');
    return Number(value);
  },
};
export const f64 = {
  write: (value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return bytes;
  },
  read: (reader) => {
    const value = reader.take(8).readDoubleLE();
    must(Number.isFinite(value) && !Object.is(value, -0), 'a double that is not finite, or minus zero');
    return value;
  },
};

export const bytes = (length) => ({
  write: (value) => {
    must(value.length === length, `${value.length} bytes instead of ${length}`);
    return value;
  },
  read: (reader) => reader.take(length),
});
const lengthFirst = (length, most) => ({
  write: (value) => {
    must(value.length <= most, `${value.length} bytes, more than ${most}`);
    return Buffer.concat([length.write(value.length), value]);
  },
  read: (reader) => {
    const size = length.read(reader);
    must(size <= most, `${size} bytes, more than ${most}`);
    return reader.take(size);
  },
});
export const short = (most = 0xffff) => lengthFirst(u16, most);
export const long = (most) => lengthFirst(u32, most);
export const text = (most) => ({
  write: (value) => short(most).write(Buffer.from(value, 'utf8')),
  read: (reader) => short(most).read(reader).toString('utf8'),
});

/** Exactly `count` items, without a count before them. */
export const times = (count, item) => ({
  write: (values) => {
    must(values.length === count, `${values.length} items instead of ${count}`);
    return Buffer.concat(values.map(item.write));
  },
  read: (reader) => Array.from({ length: count }, () => item.read(reader)),
});
export const list = (item, most = 1024) => ({
  write: (values) => Buffer.concat([u16.write(values.length), ...values.map(item.write)]),
  read: (reader) => {
    const count = u16.read(reader);
    must(count <= most, `${count} items, more than ${most}`);
    return times(count, item).read(reader);
  },
});
export const rising = (values) => values.every((value, k) => k === 0 || values[k - 1] < value);
export const increasing = {
  write: list(u16).write,
  read: (reader) => {
    const values = list(u16).read(reader);
    must(rising(values), 'a list that does not rise');
    return values;
  },
};

/** Named fields, one after the other. */
export const fields = (types) => ({
  write: (value) => Buffer.concat(Object.entries(types).map(([name, type]) => type.write(value[name]))),
  read: (reader) => Object.fromEntries(Object.entries(types).map(([name, type]) => [name, type.read(reader)])),
});

const signatures = list(fields({ authority: u8, signature: bytes(64) }), 16);

/**
 * A layout: header, fields, and what follows them. `words` of a decoded value is what was signed or is hashed, `bytes` all of it.
 * @param {'hashed' | 'signed' | 'endorsed'} how
 */
export function layout(kind, how, types) {
  const body = fields(types);
  const all = {
    read: (reader) => {
      must(reader.take(3).equals(header(kind)), `not a layout ${kind} of version 4 and suite 1`);
      const value = body.read(reader);
      const words = reader.bytes.subarray(0, reader.at);
      if (how === 'signed') return { ...value, words, signature: reader.take(64), bytes: reader.bytes };
      if (how === 'hashed') return { ...value, words, bytes: reader.bytes };
      const endorsed = signatures.read(reader);
      must(rising(endorsed.map((one) => one.authority)), 'signatures that do not rise by authority');
      return { ...value, words, signatures: endorsed, bytes: reader.bytes };
    },
  };
  return {
    words: (value) => Buffer.concat([header(kind), body.write(value)]),
    encode(value, sign) {
      const words = this.words(value);
      return how === 'signed' ? Buffer.concat([words, sign(words)]) : words;
    },
    decode: (whole) => readAll(all, whole),
    withSignatures: (words, endorsed) => Buffer.concat([words, signatures.write(endorsed)]),
  };
}

/** A whole layout within another one; encoded it is the bytes that came, decoded it is read. */
export const nested = (inner) => ({
  write: (value) => short().write(value.bytes ?? value),
  read: (reader) => inner.decode(short().read(reader)),
});
