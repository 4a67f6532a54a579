/** Seeds sealed to X25519 keys of several holders: the bytes are those of the formula, and only what was sealed so opens. */
import { hkdfSync } from 'node:crypto';
import {
  AGREEMENT_KEY_BYTES,
  concatBytes,
  type HolderBinding,
  type HolderKey,
  holderSealedBytes,
  isAgreementKey,
  keysAtOnce,
  openAsHolder,
  type Suite,
  sealToHolders,
} from '@basa/masking';
import { x25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeSuite } from '../src/node/index.ts';
import { webSuite } from '../src/web/index.ts';

const filled = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);
const seed: Uint8Array = Uint8Array.from({ length: 32 }, (_, n) => 7 * n + 1);
/** Authorities 1, 2 and 4 of a task. */
const HOLDERS = [1, 2, 4].map((authority) => {
  const secret = filled(10 + authority);
  return { key: { authority, publicKey: nodeSuite.x25519(secret).publicKey }, secret };
});
const binding: HolderBinding = { holders: HOLDERS.map(({ key }) => key), salt: filled(4), context: filled(5, 9) };
const sealedBy = (suite: Suite, to = binding, x = seed): Uint8Array =>
  keysAtOnce(suite, sealToHolders(suite, [{ seed: x, binding: to }]))[0] as Uint8Array;
const sealed = sealedBy(nodeSuite);
const opened = (bytes: Uint8Array, place: number, to = binding, suite: Suite = nodeSuite) =>
  openAsHolder(suite, bytes, to, place, HOLDERS[place]?.secret as Uint8Array);
const everyone = (bytes: Uint8Array, to = binding) => HOLDERS.map((_, place) => opened(bytes, place, to));
const NOBODY = HOLDERS.map(() => undefined);
const withHolder = (at: number, key: Partial<HolderKey>): HolderBinding => ({
  ...binding,
  holders: binding.holders.map((one, place) => (place === at ? { ...one, ...key } : one)),
});

/** The formula once more, over node:crypto and noble. */
function sealedByFormula({ holders, salt, context }: HolderBinding): Uint8Array {
  const text = (label: string): Uint8Array => new TextEncoder().encode(label);
  const derive = (secret: Uint8Array, info: Uint8Array): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, salt, info, 32));
  const e = derive(seed, concatBytes(text('eph'), context));
  const R = x25519.getPublicKey(e);
  const copies = holders.map(({ authority, publicKey }) => {
    const info = concatBytes(text('pad'), Uint8Array.of(authority), R, publicKey, context);
    const pad = derive(x25519.getSharedSecret(e, publicKey), info);
    return seed.map((byte, i) => byte ^ (pad[i] as number));
  });
  return concatBytes(R, ...copies);
}

describe('a seed that is sealed to holders', () => {
  it('has the bytes of the formula, in Node and in browsers alike', () => {
    expect(sealed).toHaveLength(holderSealedBytes(3));
    expect(holderSealedBytes(1)).toBe(64);
    expect(sealed).toEqual(sealedByFormula(binding));
    expect(sealedBy(webSuite)).toEqual(sealed);
  });

  it('is opened by each holder in Node and in browsers, and by no other key', () => {
    expect(everyone(sealed)).toEqual([seed, seed, seed]);
    expect(opened(sealed, 1, binding, webSuite)).toEqual(seed);
    expect(openAsHolder(nodeSuite, sealed, binding, 0, filled(7))).toBeUndefined();
    expect(openAsHolder(nodeSuite, sealed, binding, 0, HOLDERS[1]?.secret as Uint8Array)).toBeUndefined();
    expect(openAsHolder(nodeSuite, sealed, binding, 3, filled(7))).toBeUndefined();
  });

  it('with any bit changed, or another length, is bad for every holder', () => {
    const changes = fc.record({ at: fc.nat(sealed.length - 1), bit: fc.nat(7) });
    fc.assert(
      fc.property(changes, ({ at, bit }) => {
        const changed = sealed.slice();
        changed[at] = (changed[at] as number) ^ (1 << bit);
        expect(everyone(changed)).toEqual(NOBODY);
      }),
    );
    const others: readonly Uint8Array[] = [sealed.subarray(1), concatBytes(sealed, Uint8Array.of(0)), new Uint8Array()];
    for (const other of others) expect(everyone(other)).toEqual(NOBODY);
    expect(everyone(concatBytes(filled(0), sealed.subarray(32)))).toEqual(NOBODY);
  });

  it('is bad for every holder if one copy has another seed, or R is not made of the seed', () => {
    const other = sealedBy(nodeSuite, binding, filled(9));
    for (const place of [0, 1, 2]) {
      const mixed = sealed.slice();
      const [start, end] = [32 + 32 * place, 64 + 32 * place];
      mixed.set(other.subarray(start, end), start);
      expect(everyone(mixed)).toEqual(NOBODY);
    }
    const one = { ...binding, holders: binding.holders.slice(0, 1) };
    const pair = nodeSuite.x25519(filled(8));
    const { key, secret } = HOLDERS[0] as (typeof HOLDERS)[number];
    const info = concatBytes(Buffer.from('pad'), Uint8Array.of(1), pair.publicKey, key.publicKey, binding.context);
    const agreed = pair.agree(key.publicKey) as Uint8Array;
    const pad = nodeSuite.hkdf({ secret: agreed, salt: binding.salt, info, length: 32 });
    const forged = concatBytes(
      pair.publicKey,
      seed.map((byte, i) => byte ^ (pad[i] as number)),
    );
    expect(openAsHolder(nodeSuite, forged, one, 0, secret)).toBeUndefined();
  });

  it('opens for no other salt, context, authority or key', () => {
    const others = [
      { ...binding, salt: filled(9) },
      { ...binding, context: filled(6, 9) },
      withHolder(0, { authority: 3 }),
      withHolder(2, { authority: 3 }),
      withHolder(2, { publicKey: nodeSuite.x25519(filled(99)).publicKey }),
      withHolder(2, { publicKey: new Uint8Array(32) }),
    ];
    for (const to of others) expect(opened(sealed, 0, to)).toBeUndefined();
  });

  it('is not made for a key of small order, nor of a seed of another length', () => {
    expect(() => sealedBy(nodeSuite, withHolder(1, { publicKey: new Uint8Array(32) }))).toThrow('were not checked');
    expect(() => sealedBy(nodeSuite, binding, seed.subarray(1))).toThrow('32 bytes');
  });

  it('under two contexts shares nothing that can be seen', () => {
    const twice = sealedBy(nodeSuite, { ...binding, context: filled(6, 9) });
    for (let at = 0; at < sealed.length; at += 32)
      expect(twice.subarray(at, at + 32)).not.toEqual(sealed.subarray(at, at + 32));
  });
});

describe('a published key', () => {
  const ofOrder8 = [
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  ].map((hex) => new Uint8Array(Buffer.from(hex, 'hex')));
  const good = nodeSuite.x25519(filled(3)).publicKey;

  it('is taken if it is canonical, also just below the prime, whatever its lowest byte', () => {
    expect(isAgreementKey(good)).toBe(true);
    expect(isAgreementKey(Uint8Array.of(0xeb, ...filled(0xff, 30), 0x7f))).toBe(true);
    expect(isAgreementKey(Uint8Array.of(0xff, ...filled(0xff, 29), 0xfe, 0x7f))).toBe(true);
    expect(isAgreementKey(Uint8Array.of(0xff, 0xfe, ...filled(0xff, 29), 0x7f))).toBe(true);
  });

  it('is refused if it is of small order, outside the field, a second encoding, or of another length', () => {
    const bad = [
      new Uint8Array(32),
      Uint8Array.of(1, ...filled(0, 31)),
      ...ofOrder8,
      Uint8Array.of(0xec, ...filled(0xff, 30), 0x7f),
      Uint8Array.of(0xed, ...filled(0xff, 30), 0x7f),
      Uint8Array.of(0xee, ...filled(0xff, 30), 0x7f),
      Uint8Array.of(...good.subarray(0, 31), (good[31] as number) | 0x80),
      good.subarray(1),
      concatBytes(good, Uint8Array.of(0)),
    ];
    for (const key of bad) expect(isAgreementKey(key)).toBe(false);
    expect(good).toHaveLength(AGREEMENT_KEY_BYTES);
  });

  it('of small order is one that X25519 itself refuses', () => {
    const pair = nodeSuite.x25519(filled(8));
    for (const key of [new Uint8Array(32), ...ofOrder8]) expect(pair.agree(key)).toBeUndefined();
  });
});
