/** The backends agree with each other byte by byte, and refuse what is no group element. */
import {
  createMclGroup,
  decodeAttributeKey,
  decodeCiphertext,
  decodePublicKey,
  decrypt,
  encodeAttributeKey,
  encodeCiphertext,
  encodePublicKey,
  encrypt,
  freshKeyRandomness,
  type Group,
  keyGen,
  parsePolicy,
  setup,
} from '@basa/abe';
import { createNobleGroup } from '@basa/abe/noble';
import { ascii } from '@basa/masking';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { describe, expect, it } from 'vitest';
import { seededBytes, suite } from './tools.ts';

const mcl = await createMclGroup();
const noble = createNobleGroup();
const wide = seededBytes('group');
const numbers = Array.from({ length: 3 }, () => wide(64));

const both = <Result>(compute: (group: Group) => Result): [Result, Result] => [compute(mcl), compute(noble)];

describe('mcl and noble', () => {
  it('agree on arithmetic modulo the group order', () => {
    const [one, two] = both(({ scalars }) => {
      const [a, b, c] = numbers.map((number) => scalars.reduce(number));
      if (a === undefined || b === undefined || c === undefined) throw new Error('three numbers are needed');
      const seven = scalars.subtract(scalars.fromInteger(1000), scalars.fromInteger(993));
      const result = scalars.add(scalars.multiply(a, scalars.invert(b)), scalars.multiply(c, seven));
      return [result, scalars.subtract(scalars.fromInteger(1), scalars.fromInteger(2))].map(scalars.encode);
    });
    expect(one).toEqual(two);
  });

  it('agree on points, hashes and pairings', () => {
    const [one, two] = both((group) => {
      const { g1, g2, gt, scalars } = group;
      const [a, b] = numbers.map((number) => scalars.reduce(number));
      if (a === undefined || b === undefined) throw new Error('two numbers are needed');
      const p = g1.add(g1.multiply(group.hashToG1(ascii('x')), a), g1.negate(g1.multiplySecret(g1.generator, b)));
      const q = g2.add(g2.multiply(g2.generator, a), g2.negate(g2.multiplySecret(g2.generator, b)));
      const product = group.pairingProduct([
        { g1: p, g2: q },
        { g1: g1.generator, g2: q },
      ]);
      return [g1.encode(p), g2.encode(q), gt.encode(gt.power(product, a))];
    });
    expect(one).toEqual(two);
  });

  it('open what the other encrypts', () => {
    const [policy, context, plaintext] = [parsePolicy('a and (b or c)'), ascii('interop'), ascii('the same bytes')];
    for (const [from, to] of [
      [mcl, noble],
      [noble, mcl],
    ] as const) {
      const randomBytes = seededBytes('interop');
      const { publicKey, masterKey } = setup({ group: to, randomBytes });
      const randomness = freshKeyRandomness(randomBytes);
      const key = keyGen({ masterKey, attributes: ['a', 'c'], randomness }, { group: to });
      const sent = encrypt(
        { publicKey: decodePublicKey(encodePublicKey(publicKey, to), from), policy, plaintext, context },
        { group: from, suite, randomBytes },
      );
      const ciphertext = decodeCiphertext(encodeCiphertext(sent, from), to);
      const issued = decodeAttributeKey(encodeAttributeKey(key, to), to);
      expect(decrypt({ ciphertext, key: issued, context }, { group: to, suite })).toEqual({
        kind: 'opened',
        plaintext,
      });
    }
  });

  it('reject elements of each other', () => {
    expect(() => mcl.g1.encode(noble.g1.generator)).toThrow(TypeError);
    expect(() => noble.g1.encode(mcl.g1.generator)).toThrow(TypeError);
  });

  it('refuse elements of Fp12 that are not of order r', () => {
    const { Fp12 } = bls12_381.fields;
    const miller = bls12_381.pairing(bls12_381.G1.Point.BASE, bls12_381.G2.Point.BASE, false);
    // The easy part of the final exponentiation: in the cyclotomic subgroup, but not of order r.
    const conjugated = Fp12.mul(Fp12.conjugate(miller), Fp12.inv(miller));
    const cyclotomic = Fp12.mul(Fp12.frobeniusMap(conjugated, 2), conjugated);
    for (const element of [miller, cyclotomic, Fp12.ONE, Fp12.ZERO]) {
      expect(both(({ gt }) => gt.decode(Fp12.toBytes(element)))).toEqual([undefined, undefined]);
    }
    const right = Fp12.toBytes(Fp12.finalExponentiate(miller));
    expect(both(({ gt }) => gt.encode(gt.decode(right) as NonNullable<ReturnType<typeof gt.decode>>))).toEqual([
      right,
      right,
    ]);
  });

  it('refuse numbers that are zero, not below the group order, or of another length', () => {
    const order = Buffer.from('73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001', 'hex');
    for (const bytes of [new Uint8Array(32), order, new Uint8Array(32).fill(255), new Uint8Array(31).fill(1)]) {
      expect(both(({ scalars }) => scalars.decode(bytes))).toEqual([undefined, undefined]);
    }
    expect(() => mcl.scalars.reduce(new Uint8Array(32))).toThrow(RangeError);
    expect(() => noble.scalars.reduce(new Uint8Array(32))).toThrow(RangeError);
  });
});

describe('mcl', () => {
  it('multiplies hundreds of pairings exactly as one by one', () => {
    const { g1, g2, gt, scalars } = mcl;
    const pair = { g1: g1.generator, g2: g2.generator };
    const product = mcl.pairingProduct(Array.from({ length: 150 }, () => pair));
    expect(gt.equal(product, gt.power(mcl.pairingProduct([pair]), scalars.fromInteger(150)))).toBe(true);
  });

  it('keeps its elements when another instance is made', async () => {
    const { g1, scalars } = mcl;
    const point = g1.multiply(g1.generator, scalars.fromInteger(9));
    const before = g1.encode(point);
    const other = await createMclGroup();
    expect(g1.encode(point)).toEqual(before);
    expect(other.g1.encode(point)).toEqual(before);
  });

  it('wipes scalars', () => {
    const scalar = mcl.scalars.reduce(wide(64));
    mcl.scalars.wipe(scalar);
    expect(mcl.scalars.isZero(scalar)).toBe(true);
  });
});
