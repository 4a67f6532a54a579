import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIELD, modulusSize, packedLength, packVector, RING_32, ring, unpackVector } from '../src/index.ts';

describe('a packed vector', () => {
  it('is unpacked unchanged, for every width, from exactly ceil(d b / 8) bytes', () => {
    const cases = fc.tuple(fc.integer({ min: 2, max: 32 }), fc.array(fc.nat(0xffff_ffff), { maxLength: 40 }));
    fc.assert(
      fc.property(cases, ([bits, words]) => {
        const modulus = ring(bits);
        const vector = Uint32Array.from(words, (word) => word % modulusSize(modulus));
        const packed = packVector(vector, modulus);
        expect(packed.length).toBe(Math.ceil((vector.length * bits) / 8));
        expect(unpackVector(packed, vector.length, modulus)).toEqual({ kind: 'vector', vector });
      }),
    );
  });

  it('lays element k at bit k*b, little-endian', () => {
    expect([...packVector(Uint32Array.of(0x12345, 0x6789a, 0xbcdef), ring(20))]).toEqual([
      0x45, 0x23, 0xa1, 0x89, 0x67, 0xef, 0xcd, 0x0b,
    ]);
    expect([...packVector(Uint32Array.of(0x0102, 0xfffe), ring(16))]).toEqual([0x02, 0x01, 0xfe, 0xff]);
    expect([...packVector(Uint32Array.of(0x01020304), RING_32)]).toEqual([4, 3, 2, 1]);
  });

  it('is one little-endian number, element by element, for every width and every length up to 17', () => {
    for (let bits = 2; bits <= 32; bits++) {
      for (let length = 0; length <= 17; length++) {
        const vector = Uint32Array.from({ length }, (_, k) => ((k + 1) * 0x9e37_79b1) % 2 ** bits);
        const whole = vector.reduce((sum, element, k) => sum + (BigInt(element) << BigInt(k * bits)), 0n);
        const bytes = Array.from({ length: Math.ceil((length * bits) / 8) }, (_, n) =>
          Number((whole >> BigInt(8 * n)) & 255n),
        );
        expect([...packVector(vector, ring(bits))]).toEqual(bytes);
        expect(unpackVector(Uint8Array.from(bytes), length, ring(bits))).toEqual({ kind: 'vector', vector });
      }
    }
  });

  it('of the wrong length is malformed', () => {
    expect(unpackVector(new Uint8Array(4), 2, ring(20))).toEqual({
      kind: 'malformed',
      problem: '4 bytes instead of 5 for 2 elements',
    });
    expect(packedLength(3, ring(20))).toBe(8);
  });

  it('with padding that is not zero is malformed', () => {
    const packed = packVector(Uint32Array.of(1, 2, 3), ring(20));
    packed[7] = (packed[7] as number) | 0x10;
    expect(unpackVector(packed, 3, ring(20))).toMatchObject({
      kind: 'malformed',
      problem: expect.stringContaining('padding'),
    });
  });

  it('with an element outside the field is malformed, and cannot be made', () => {
    const outside = Uint32Array.of(0, 0xffff_fffb);
    expect(unpackVector(new Uint8Array(outside.buffer), 2, FIELD)).toMatchObject({
      problem: 'element 1 is not below the modulus',
    });
    expect(() => packVector(outside, FIELD)).toThrow('element 1');
    expect(() => packVector(Uint32Array.of(1 << 20), ring(20))).toThrow('element 0');
  });
});
