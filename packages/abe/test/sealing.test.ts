/** CP-ABE behind the `SeedSealing` port. */
import {
  abeIssuer,
  abeSealing,
  decodePublicKey,
  EncryptionPool,
  encodeAttributeKey,
  freshKeyRandomness,
  keyGen,
  setup,
  type WipeableIssuer,
} from '@basa/abe';
import { ascii, concatBytes, DecodeError } from '@basa/masking';
import { webSuite } from '@basa/runtime/web';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { hostileBytes } from './hostile.ts';
import { flipBit, mclTools, suite } from './tools.ts';

const tools = await mclTools('sealing');
const { group, randomBytes } = tools;
const { publicKey, masterKey } = setup(tools);
const [attribute, otherAttribute] = [suite.sha256(ascii('slot 1')), suite.sha256(ascii('slot 2'))];
const context = suite.sha256(ascii('buffer'));
const seed = randomBytes(32);

const sealing = abeSealing({ ...tools, publicKey });
const issuer = abeIssuer(masterKey, tools);
const makeIssuer = (): WipeableIssuer => abeIssuer(setup(tools).masterKey, tools);

describe('cp-abe', () => {
  const key = issuer.issue(attribute);
  const sealed = sealing.seal(seed, attribute, context);

  it('opens a seed to the key of its attribute', () => {
    expect(sealing.open(sealed, key, context)).toEqual(seed);
    expect(sealing.opener(key)(sealed, context)).toEqual(seed);
  });

  it('seals 32 bytes into the announced length, and never gives the same bytes twice', () => {
    expect(sealed).toHaveLength(240);
    expect(sealing.sealedBytes).toBe(240);
    expect(sealing.seal(seed, attribute, context)).not.toEqual(sealed);
  });

  it('does not open with the key of another attribute, or in another context', () => {
    expect(sealing.open(sealed, issuer.issue(otherAttribute), context)).toBeUndefined();
    expect(sealing.open(sealed, key, suite.sha256(ascii('another')))).toBeUndefined();
    expect(sealing.open(sealed, key, new Uint8Array(0))).toBeUndefined();
  });

  it('does not open with any flipped bit', () => {
    for (let bit = 0; bit < 8 * sealed.length; bit += 7) {
      expect(sealing.open(flipBit(sealed, bit), key, context)).toBeUndefined();
    }
  });

  it('does not open a truncated, over-long or random ciphertext', () => {
    for (const damaged of [sealed.subarray(1), concatBytes(sealed, Uint8Array.of(0)), new Uint8Array(0)]) {
      expect(sealing.open(damaged, key, context)).toBeUndefined();
    }
    const random = fc.uint8Array({ minLength: sealed.length, maxLength: sealed.length });
    fc.assert(fc.property(random, (hostile) => sealing.open(hostile, key, context) === undefined));
  });

  it('does not open 100,000 random or mutated byte strings', () => {
    const open = sealing.opener(key);
    let opened = 0;
    for (const hostile of hostileBytes(sealed, 100_000)) if (open(hostile, context) !== undefined) opened++;
    expect(opened).toBe(0);
  });

  it('does not open two honest ciphertexts put together', () => {
    const other = sealing.seal(seed, attribute, context);
    for (const cut of [48, 80, 96, 144, 192]) {
      const mixed = concatBytes(sealed.subarray(0, cut), other.subarray(cut));
      expect(sealing.open(mixed, key, context)).toBeUndefined();
    }
  });

  it('throws a DecodeError at a malformed key, and never keeps it', () => {
    expect(() => sealing.open(sealed, key.subarray(1), context)).toThrow(DecodeError);
    expect(() => sealing.open(sealed, flipBit(key, 8 * key.length - 8), context)).toThrow(DecodeError);
    expect(sealing.open(sealed, key, context)).toEqual(seed);
  });

  it('decodes a key once for many seeds, and follows when the key changes', () => {
    const many = Array.from({ length: 4 }, () => sealing.seal(randomBytes(32), attribute, context));
    expect(many.every((one) => sealing.open(one, key, context) !== undefined)).toBe(true);
    expect(sealing.open(sealed, issuer.issue(otherAttribute), context)).toBeUndefined();
    expect(sealing.open(sealed, key, context)).toEqual(seed);
    sealing.forget();
    expect(sealing.open(sealed, key, context)).toEqual(seed);
  });

  it('works the same after its warm-up', () => {
    sealing.warmUp();
    const warm = sealing.seal(seed, attribute, context);
    expect(sealing.open(warm, key, context)).toEqual(seed);
    expect(sealing.open(sealed, key, context)).toEqual(seed);
    sealing.destroy();
    expect(sealing.open(sealing.seal(seed, attribute, context), key, context)).toEqual(seed);
  });

  it('builds its tables at the 30th seed, and opens seeds sealed before and after', () => {
    sealing.destroy();
    const built = vi.spyOn(group.gt, 'fixedBase');
    const seeds = Array.from({ length: 31 }, () => sealing.seal(seed, attribute, context));
    expect(built).toHaveBeenCalledTimes(1);
    built.mockRestore();
    for (const n of [28, 29, 30]) expect(sealing.open(seeds[n] as Uint8Array, key, context)).toEqual(seed);
    sealing.destroy();
  });

  it('has an issuer that gives the same key and the same derived bytes for the same request', () => {
    expect(issuer.issue(attribute)).toEqual(key);
    expect(issuer.derive(ascii('label'))).toEqual(issuer.derive(ascii('label')));
    expect(issuer.derive(ascii('label'))).not.toEqual(issuer.derive(ascii('other')));
    expect(issuer.derive(ascii('label'))).not.toEqual(makeIssuer().derive(ascii('label')));
    expect(issuer.derive(new Uint8Array(5000))).toHaveLength(32);
  });

  it('has an issuer that throws once it is wiped', () => {
    const wiped = makeIssuer();
    wiped.wipe();
    expect(() => wiped.issue(attribute)).toThrow(/wiped/);
    expect(() => wiped.derive(ascii('label'))).toThrow(/wiped/);
  });

  it('rejects seeds and attributes of an impossible length', () => {
    expect(() => sealing.seal(new Uint8Array(31), attribute, context)).toThrow(RangeError);
    expect(() => sealing.seal(seed, new Uint8Array(0), context)).toThrow(RangeError);
    expect(() => sealing.seal(seed, new Uint8Array(256), context)).toThrow(RangeError);
  });
});

describe('cp-abe sealing', () => {
  it('opens in Node what a browser seals', () => {
    const browser = abeSealing({ ...tools, suite: webSuite, publicKey });
    const sealed = browser.seal(seed, attribute, context);
    const key = abeIssuer(masterKey, tools).issue(attribute);
    expect(abeSealing({ ...tools, publicKey }).open(sealed, key, context)).toEqual(seed);
  });

  it('seals under the bytes that its issuer publishes', () => {
    const issuer = abeIssuer(setup(tools).masterKey, tools);
    const sealing = abeSealing({ ...tools, publicKey: decodePublicKey(issuer.publicKey, group) });
    const sealed = sealing.seal(seed, attribute, context);
    expect(sealing.open(sealed, issuer.issue(attribute), context)).toEqual(seed);
  });

  it('takes from its pool, each part once', () => {
    const pool = new EncryptionPool(publicKey, tools);
    pool.prepare(2);
    const sealing = abeSealing({ ...tools, publicKey, pool });
    const heads = [0, 1, 2].map(() => sealing.seal(seed, attribute, context).subarray(0, 48).join());
    expect(pool.size).toBe(0);
    expect(new Set(heads).size).toBe(3);
  });

  it('is not made with the pool of another public key', () => {
    const pool = new EncryptionPool(setup(tools).publicKey, tools);
    expect(() => abeSealing({ ...tools, publicKey, pool })).toThrow(/another/);
  });

  it('rejects a key for several attributes', () => {
    const sealing = abeSealing({ ...tools, publicKey });
    const sealed = sealing.seal(seed, attribute, context);
    const attributes = [attribute, otherAttribute];
    const key = keyGen({ masterKey, attributes, randomness: freshKeyRandomness(randomBytes) }, tools);
    expect(() => sealing.open(sealed, encodeAttributeKey(key, group), context)).toThrow(DecodeError);
  });
});
