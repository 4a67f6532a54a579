/** Fields of messages are held to their limits, by who writes as by who reads: the last value that fits is taken, the first that does not is refused. */
import { ByteReader, ByteWriter, DecodeError } from '@basa/masking';
import { describe, expect, it } from 'vitest';
import { message, olderLayout, signedMessage } from '../../src/wire/codec.ts';
import {
  below,
  type Field,
  finite,
  fixed,
  flag,
  list,
  long,
  oneOf,
  optional,
  positive,
  short,
  text,
  times,
  u8,
} from '../../src/wire/fields.ts';

/** The same field without its limits, to write what the limited one must not read. */
interface Limited {
  readonly name: string;
  readonly field: Field<never>;
  readonly loose: Field<never>;
  readonly fits: readonly unknown[];
  readonly fails: readonly unknown[];
}

const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(65);
const double: Field<number> = { type: 'f64', write: (w, value) => w.f64(value), read: (r, name) => r.f64(name) };

const LIMITED = [
  { name: 'short', field: short(3), loose: short(9), fits: [bytes(0), bytes(3)], fails: [bytes(4)] },
  { name: 'long', field: long(3), loose: long(9), fits: [bytes(0), bytes(3)], fails: [bytes(4)] },
  { name: 'text', field: text(3), loose: text(9), fits: ['', 'abc'], fails: ['abcd'] },
  { name: 'below', field: below(3), loose: below(9), fits: [0, 2], fails: [3] },
  { name: 'list', field: list(2, u8), loose: list(9, u8), fits: [[], [7, 8]], fails: [[7, 8, 9]] },
  {
    name: 'positive',
    field: positive,
    loose: double,
    fits: [5e-324, 1e308],
    fails: [0, -1, Number.POSITIVE_INFINITY, Number.NaN],
  },
  { name: 'finite', field: finite, loose: double, fits: [0, -1.5], fails: [-0, Number.NEGATIVE_INFINITY, Number.NaN] },
] as unknown as readonly Limited[];

function written<T>(field: Field<T>, value: T): Uint8Array {
  const writer = new ByteWriter();
  field.write(writer, value);
  return writer.finish();
}

const readBack = <T>(field: Field<T>, encoded: Uint8Array): T => field.read(new ByteReader(encoded), 'it');

describe('a field', () => {
  it.each(LIMITED)('of kind $name takes values that fit, and gives them back', ({ field, fits }) => {
    for (const value of fits as readonly never[]) expect(readBack(field, written(field, value))).toEqual(value);
  });

  it.each(LIMITED)('of kind $name is neither written nor read beyond its limit', ({ field, loose, fails }) => {
    for (const value of fails as readonly never[]) {
      expect(() => written(field, value)).toThrow(RangeError);
      expect(() => readBack(field, written(loose, value))).toThrow(DecodeError);
    }
  });

  it('of a fixed number of bytes or items takes exactly this number', () => {
    expect(written(fixed(2), bytes(2))).toEqual(bytes(2));
    for (const length of [1, 3]) expect(() => written(fixed(2), bytes(length))).toThrow(RangeError);
    expect(written(times(2, u8), [1, 2])).toEqual(Uint8Array.of(1, 2));
    for (const items of [[1], [1, 2, 3]]) expect(() => written(times(2, u8), items)).toThrow(RangeError);
    expect(() => readBack(fixed(2), bytes(1))).toThrow(DecodeError);
  });

  it('of few bytes is a copy of the message, of many a view', () => {
    const encoded = bytes(65);
    expect(readBack(fixed(64), encoded).buffer).not.toBe(encoded.buffer);
    expect(readBack(fixed(65), encoded).buffer).toBe(encoded.buffer);
  });

  it('that is a flag, an optional or one of some names has no second encoding', () => {
    expect([written(flag, true), written(flag, false)]).toEqual([Uint8Array.of(1), Uint8Array.of(0)]);
    expect([readBack(flag, Uint8Array.of(1)), readBack(flag, Uint8Array.of(0))]).toEqual([true, false]);
    expect(() => readBack(flag, Uint8Array.of(2))).toThrow(DecodeError);
    expect([written(optional(u8), 7), written(optional(u8), undefined)]).toEqual([
      Uint8Array.of(1, 7),
      Uint8Array.of(0),
    ]);
    expect(readBack(optional(u8), Uint8Array.of(0))).toBeUndefined();
    const names = oneOf(['a', 'b']);
    expect([written(names, 'b'), readBack(names, Uint8Array.of(1))]).toEqual([Uint8Array.of(1), 'b']);
    expect(() => readBack(names, Uint8Array.of(2))).toThrow(DecodeError);
  });

  it('of text is ASCII', () => {
    expect(() => readBack(text(3), Uint8Array.of(0, 1, 0x80))).toThrow(DecodeError);
    expect(readBack(text(3), written(short(3), Uint8Array.of(0x7f)))).toBe('\x7f');
  });
});

describe('the version of a layout', () => {
  it('is reported only if it is older than this program', () => {
    const [version = 0] = message<{ n: number }>(200, 'plain', { n: u8 }).encode({ n: 9 });
    expect(olderLayout(Uint8Array.of(version - 1))).toContain(`version ${version - 1}`);
    for (const other of [[version], [version + 1], [0], []])
      expect(olderLayout(Uint8Array.from(other))).toBeUndefined();
  });
});

describe('a message', () => {
  const plain = message<{ n: number }>(200, 'plain', { n: u8 });
  const signed = signedMessage<{ n: number }>(201, 'signed', { n: u8 });

  it('has its version, its suite and its kind in front, and nothing behind', () => {
    const encoded = plain.encode({ n: 9 });
    expect([...encoded.slice(2)]).toEqual([200, 9]);
    expect(plain.decode(encoded)).toEqual({ n: 9 });
    for (const at of [0, 1, 2])
      expect(() => plain.decode(encoded.map((byte, n) => (n === at ? byte ^ 1 : byte)))).toThrow(DecodeError);
    expect(() => plain.decode(Uint8Array.of(...encoded, 0))).toThrow(DecodeError);
    expect(() => plain.decode(encoded.slice(0, -1))).toThrow(DecodeError);
  });

  it('that is signed is too short without its 64 bytes', () => {
    const encoded = signed.encode({ n: 9, signature: bytes(64) });
    expect(encoded).toHaveLength(68);
    expect(signed.decode(encoded)).toEqual({ n: 9, signature: bytes(64) });
    // Of 34 bytes, all but the last 30 are a message.
    for (const length of [0, 34, 63, 64, 67])
      expect(() => signed.decode(encoded.slice(0, length))).toThrow(DecodeError);
    expect(() => signed.encode({ n: 9, signature: bytes(63) })).toThrow(RangeError);
  });
});
