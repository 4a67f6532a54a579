/** Secrets dealt into shares: any threshold of them gives the secret back, and fewer reveal nothing. */
import { setsOf } from '@basa/testkit/core/slot-seals.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretOf, shareAt } from '../src/shamir.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

describe('a dealt secret', () => {
  it('is reconstructed from any threshold of shares at any points', () => {
    const dealt = fc.record({
      secret: bytes(4),
      coefficients: fc.array(bytes(4), { maxLength: 4 }),
      points: fc.uniqueArray(fc.integer({ min: 1, max: 255 }), { minLength: 6, maxLength: 6 }),
    });
    fc.assert(
      fc.property(dealt, ({ secret, coefficients, points }) => {
        const shares = points.map((point) => ({ point, share: shareAt(secret, coefficients, point) }));
        for (const set of setsOf(shares, coefficients.length + 1)) expect(secretOf(set)).toEqual(secret);
      }),
    );
  });

  it('is not determined by fewer: for two shares every secret is equally likely, depending on the third', () => {
    const [first, second] = [
      { point: 1, share: Uint8Array.of(83) },
      { point: 4, share: Uint8Array.of(202) },
    ];
    const secrets = Array.from({ length: 256 }, (_, byte) =>
      secretOf([first, second, { point: 2, share: Uint8Array.of(byte) }]).at(0),
    );
    expect(new Set(secrets).size).toBe(256);
  });

  it('is dealt in the field of AES: 0x53 times 0xca is 1, and 2 times 0x80 is 0x1b', () => {
    const zero = new Uint8Array(1);
    expect(shareAt(zero, [Uint8Array.of(0xca)], 0x53)).toEqual(Uint8Array.of(1));
    expect(shareAt(zero, [Uint8Array.of(0x80)], 2)).toEqual(Uint8Array.of(0x1b));
    // 9 + 7 * 3 + 5 * 3^2, by hand: 7 * 3 = 9, 3^2 = 5, 5 * 5 = 17.
    expect(shareAt(Uint8Array.of(9), [Uint8Array.of(7), Uint8Array.of(5)], 3)).toEqual(Uint8Array.of(9 ^ 9 ^ 17));
  });
});
