/** Seeds sealed to X25519 and ML-KEM-768 together: the bytes are those of the formula, and only what was sealed so opens. */
import { createHash, hkdfSync } from 'node:crypto';
import {
  concatBytes,
  type HolderSecret,
  type HybridBinding,
  type HybridHolder,
  hybridSealedBytes,
  type Kem,
  keysAtOnce,
  openHybrid,
  type Suite,
  sealToHybrid,
} from '@basa/masking';
import { x25519 } from '@noble/curves/ed25519.js';
import { ml_kem768 } from '@noble/post-quantum/ml-kem.js';
import { describe, expect, it } from 'vitest';
import { withKem } from '../src/kem.ts';
import { nodeSuite } from '../src/node/index.ts';
import { webSuite, webSuiteWithKem } from '../src/web/index.ts';

const suite = withKem(nodeSuite);
const filled = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);
const seed = Uint8Array.from({ length: 32 }, (_, n) => 7 * n + 1);
/** Authorities 1, 2 and 4 of a task. */
const HOLDERS = [1, 2, 4].map((authority) => {
  const pair = (suite.kem as Kem).keyPair(filled(authority, 64));
  const secret: HolderSecret = { agreement: filled(10 + authority), decapsulation: pair.secretKey };
  const publicKey = nodeSuite.x25519(secret.agreement).publicKey;
  return { part: { authority, publicKey, kemKey: pair.publicKey, statement: filled(20 + authority) }, secret };
});
const binding: HybridBinding = {
  holders: HOLDERS.map(({ part }) => part),
  salt: filled(4),
  context: filled(5, 9),
};
const sealedBy = (by: Suite, to = binding): Uint8Array => {
  const [sealed] = keysAtOnce(by, sealToHybrid(by, [{ seed, binding: to }]));
  return sealed as Uint8Array;
};
const sealed = sealedBy(suite);
const opened = (bytes: Uint8Array, place: number, to = binding, by: Suite = suite) =>
  openHybrid(by, bytes, to, place, HOLDERS[place]?.secret as HolderSecret);
const everyone = (bytes: Uint8Array) => HOLDERS.map((_, place) => opened(bytes, place));
const withHolder = (at: number, part: HybridHolder): readonly HybridHolder[] =>
  binding.holders.map((one, place) => (place === at ? part : one));
const NOBODY = HOLDERS.map(() => undefined);

/** The formula once more, over node:crypto and the plain functions of noble. */
function sealedByFormula(): Uint8Array {
  const text = (label: string): Uint8Array => new TextEncoder().encode(label);
  const hash = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
  const { salt, context, holders } = binding;
  const derive = (secret: Uint8Array, info: Uint8Array): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, salt, info, 32));
  const e = derive(seed, concatBytes(text('eph'), context));
  const R = x25519.getPublicKey(e);
  const copies = holders.map(({ authority, publicKey, kemKey, statement }) => {
    const a = Uint8Array.of(authority);
    const m = derive(seed, concatBytes(text('kem'), context, a, statement));
    const { cipherText, sharedSecret } = ml_kem768.encapsulate(kemKey as Uint8Array, m);
    const combined = createHash('sha3-256')
      .update(concatBytes(sharedSecret, x25519.getSharedSecret(e, publicKey), R, publicKey))
      .update(text('\\.//^\\'))
      .digest();
    const info = concatBytes(text('pad'), a, hash(cipherText), hash(kemKey as Uint8Array), context);
    const pad = derive(combined, info);
    return concatBytes(
      cipherText,
      seed.map((byte, i) => byte ^ (pad[i] as number)),
    );
  });
  return concatBytes(R, ...copies);
}

describe('a seed that is sealed to both keys', () => {
  it('has the bytes of the formula, in Node and in browsers alike', async () => {
    expect(sealed).toHaveLength(hybridSealedBytes(3));
    expect(hybridSealedBytes(1)).toBe(32 + 1120);
    expect(sealed).toEqual(sealedByFormula());
    expect(sealedBy(await webSuiteWithKem())).toEqual(sealed);
  });

  it('is opened by each holder, and by no other secret', () => {
    expect(everyone(sealed)).toEqual([seed, seed, seed]);
    const [first, second] = HOLDERS.map(({ secret }) => secret) as [HolderSecret, HolderSecret];
    const mixed = { agreement: first.agreement, decapsulation: second.decapsulation };
    expect(openHybrid(suite, sealed, binding, 0, mixed)).toBeUndefined();
    expect(openHybrid(suite, sealed, binding, 1, mixed)).toBeUndefined();
    expect(openHybrid(suite, sealed, binding, 0, second)).toBeUndefined();
    expect(openHybrid(suite, sealed, binding, 0, { ...first, decapsulation: undefined })).toBeUndefined();
  });

  it('is bad for every holder if one byte of any copy, of R or of a ciphertext was changed', () => {
    for (const place of [0, 31, 32, 700, 1119, 1120, 1151, 1152, 1152 + 1088, sealed.length - 1]) {
      const changed = sealed.slice();
      changed[place] = (changed[place] as number) ^ 1;
      expect(everyone(changed)).toEqual(NOBODY);
    }
    expect(everyone(sealed.subarray(1))).toEqual(NOBODY);
    expect(everyone(concatBytes(sealed, Uint8Array.of(0)))).toEqual(NOBODY);
    expect(everyone(concatBytes(new Uint8Array(32), sealed.subarray(32)))).toEqual(NOBODY);
  });

  it('is bad for every holder if a ciphertext has another randomness, though each copy opens by itself', () => {
    const { part } = HOLDERS[1] as (typeof HOLDERS)[number];
    const other = { ...part, statement: filled(99) };
    const foreign = sealedBy(suite, { ...binding, holders: withHolder(1, other) });
    const copy = 32 + 1120;
    const mixed = sealed.slice();
    mixed.set(foreign.subarray(copy, copy + 1120), copy);
    expect(everyone(mixed)).toEqual(NOBODY);
  });

  it('opens for no other salt, context, authority, key or statement', () => {
    const { part } = HOLDERS[0] as (typeof HOLDERS)[number];
    const others: readonly HybridBinding[] = [
      { ...binding, salt: filled(9) },
      { ...binding, context: filled(6, 9) },
      { ...binding, holders: withHolder(0, { ...part, authority: 3 }) },
      { ...binding, holders: withHolder(0, { ...part, statement: filled(3) }) },
      { ...binding, holders: withHolder(0, { ...part, kemKey: undefined }) },
    ];
    for (const to of others) expect(opened(sealed, 0, to)).toBeUndefined();
  });

  it('is never sealed to a holder without an ML-KEM key, or without ML-KEM', () => {
    const holders = binding.holders.map((part) => ({ ...part, kemKey: undefined }));
    expect(() => sealedBy(suite, { ...binding, holders })).toThrow(/were not checked/);
    expect(() => sealedBy(webSuite)).toThrow(/ML-KEM was not loaded/);
  });
});
