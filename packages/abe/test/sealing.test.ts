/** CP-ABE behind the `SeedSealing` port. */
import {
  type AbeIssuer,
  abeIssuer,
  abeSealing,
  decodePublicKey,
  encodeAttributeKey,
  freshKeyRandomness,
  keyGen,
  setup,
} from '@basa/abe';
import { ascii, concatBytes, DecodeError } from '@basa/masking';
import { webSuite } from '@basa/runtime/web';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostileBytes } from './hostile.ts';
import { flipBit, mclTools, suite } from './tools.ts';

const tools = await mclTools('sealing');
const { group, randomBytes } = tools;
const { publicKey, masterKey } = setup(tools);
const [attribute, otherAttribute] = [suite.sha256(ascii('position 1')), suite.sha256(ascii('position 2'))];
const context = suite.sha256(ascii('buffer'));
const seed = randomBytes(32);

const sealing = abeSealing({ ...tools, publicKey });
const issuer = abeIssuer(masterKey, tools);
const makeIssuer = (): AbeIssuer => abeIssuer(setup(tools).masterKey, tools);

describe('cp-abe', () => {
  const key = issuer.issue(attribute);
  const sealed = sealing.seal(seed, attribute, context);

  it('opens a seed to the key of its attribute', () => {
    expect(sealing.open(sealed, key, context)).toEqual(seed);
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

  it('does not open 20,000 random or mutated byte strings', () => {
    let opened = 0;
    for (const hostile of hostileBytes(sealed, 20_000)) if (sealing.open(hostile, key, context) !== undefined) opened++;
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

  it('has an issuer that gives the same key for the same request', () => {
    expect(issuer.issue(attribute)).toEqual(key);
    expect(makeIssuer().issue(attribute)).not.toEqual(key);
  });

  it('has an issuer that throws once it is wiped', () => {
    const wiped = makeIssuer();
    wiped.wipe();
    expect(() => wiped.issue(attribute)).toThrow(/wiped/);
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

  it('rejects a key for several attributes', () => {
    const sealing = abeSealing({ ...tools, publicKey });
    const sealed = sealing.seal(seed, attribute, context);
    const attributes = [attribute, otherAttribute];
    const key = keyGen({ masterKey, attributes, randomness: freshKeyRandomness(randomBytes) }, tools);
    expect(() => sealing.open(sealed, encodeAttributeKey(key, group), context)).toThrow(DecodeError);
  });
});
