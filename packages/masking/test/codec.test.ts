import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader, ByteWriter, DecodeError, fromHex, toHex } from '../src/index.ts';

describe('bytes', () => {
  it('are read back unchanged', () => {
    const fields = fc.tuple(
      fc.nat(0xff),
      fc.nat(0xffff),
      fc.nat(0xffff_ffff),
      fc.maxSafeNat(),
      fc.double(),
      fc.uint8Array({ maxLength: 50 }),
    );
    fc.assert(
      fc.property(fields, ([a, b, c, d, e, f]) => {
        const reader = new ByteReader(new ByteWriter().u8(a).u16(b).u32(c).u53(d).f64(e).shortBytes(f).finish());
        expect([reader.u8('a'), reader.u16('b'), reader.u32('c'), reader.u53('d'), reader.f64('e')]).toEqual([
          a,
          b,
          c,
          d,
          e,
        ]);
        expect(reader.shortBytes('f', 50)).toEqual(f);
        reader.end('message');
      }),
    );
  });

  it('are views of a message, or copies of it', () => {
    const message = Uint8Array.of(1, 2, 3, 4);
    const reader = new ByteReader(message);
    const [view, copy] = [reader.bytes('view', 2), reader.copiedBytes('copy', 2)];
    message.fill(9);
    expect([...view, ...copy]).toEqual([9, 9, 3, 4]);
    expect(() => reader.copiedBytes('copy', 1)).toThrow('copy: truncated');
  });

  it('that are lent are wiped afterwards, and their writer is used up', () => {
    const writer = new ByteWriter().u8(7).bytes(Uint8Array.of(1, 2, 3));
    const kept: Uint8Array[] = [];
    const sum = writer.lend((message) => {
      kept.push(message);
      return message.reduce((total, byte) => total + byte, 0);
    });
    expect(sum).toBe(13);
    expect(kept).toEqual([new Uint8Array(4)]);
    expect(() => writer.u8(1)).toThrow('finished');
  });

  it('that end too early name the field', () => {
    expect(() => new ByteReader(Uint8Array.of(1, 2, 3)).u32('slot')).toThrow(
      new DecodeError('slot', 'truncated: 4 bytes needed, 3 left'),
    );
  });

  it('that go on too long are refused', () => {
    expect(() => new ByteReader(Uint8Array.of(1)).end('ticket')).toThrow(new DecodeError('ticket', '1 bytes too long'));
  });

  it('whose length exceeds its bound are refused before they are read', () => {
    expect(() => new ByteReader(Uint8Array.of(255, 255)).shortBytes('name', 64)).toThrow(
      new DecodeError('name length', '65535 exceeds 64'),
    );
  });

  it('after their length are at most as many as their bound allows', () => {
    const framed = (length: number) => new ByteWriter().shortFrame(3, (inner) => inner.bytes(new Uint8Array(length)));
    expect(framed(3).finish()).toEqual(Uint8Array.of(3, 0, 0, 0, 0));
    expect(() => framed(4)).toThrow('4 bytes exceed 3');
  });

  it('beyond 2^53 are refused, and cannot be written', () => {
    expect(() => new ByteReader(new Uint8Array(8).fill(255)).u53('time')).toThrow(DecodeError);
    const largest = new ByteWriter().u53(Number.MAX_SAFE_INTEGER).finish();
    expect(new ByteReader(largest).u53('time')).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => new ByteWriter().u53(2 ** 53)).toThrow(RangeError);
    expect(() => new ByteWriter().u8(256)).toThrow(RangeError);
    expect(() => new ByteWriter().u16(-1)).toThrow(RangeError);
  });
});

describe('hexadecimal', () => {
  it('is what Node writes, for every byte and across pieces', () => {
    const bytes = Uint8Array.from({ length: 300 }, (_, i) => i);
    for (const length of [0, 1, 31, 32, 33, 64, 300]) {
      expect(toHex(bytes.subarray(0, length))).toBe(Buffer.from(bytes.subarray(0, length)).toString('hex'));
    }
  });
});

it('only canonical hexadecimal is read back', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
  expect(fromHex(toHex(bytes))).toEqual(bytes);
  expect(fromHex('')).toEqual(new Uint8Array());
  for (const text of ['0', 'AB', '0g', 'g0', '/0', '0:', '`0', ' 0', '0\n', '\u01300'])
    expect(fromHex(text)).toBeUndefined();
});
