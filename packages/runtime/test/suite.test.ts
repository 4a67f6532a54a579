import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeSuite } from '../src/node/index.ts';
import { webSuite } from '../src/web/index.ts';

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const bytes = fc.uint8Array({ maxLength: 200 });
const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const nonce = fc.uint8Array({ minLength: 12, maxLength: 12 });

describe.each([
  ['Node', nodeSuite],
  ['the browser', webSuite],
])('the suite of %s', (_, suite) => {
  it('hashes "abc" as FIPS 180-4 does, however it is cut', () => {
    const expected = hex('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(suite.sha256(hex('616263'))).toEqual(expected);
    expect(suite.sha256(hex('61'), new Uint8Array(), hex('6263'))).toEqual(expected);
  });

  it('derives what RFC 5869 test case 1 derives', () => {
    const derived = suite.hkdf({
      secret: new Uint8Array(22).fill(11),
      salt: hex('000102030405060708090a0b0c'),
      info: hex('f0f1f2f3f4f5f6f7f8f9'),
      length: 42,
    });
    expect(derived).toEqual(
      hex('3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865'),
    );
  });

  it('seals as RFC 8439 section 2.8.2 does', () => {
    const plaintext = new Uint8Array(
      Buffer.from(
        "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
      ),
    );
    const input = {
      key: hex('808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f'),
      nonce: hex('070000004041424344454647'),
      associatedData: hex('50515253c0c1c2c3c4c5c6c7'),
    };
    const ciphertext = suite.seal({ ...input, plaintext });
    expect(ciphertext.slice(-16)).toEqual(hex('1ae10b594f09e26a7e902ecbd0600691'));
    expect(suite.open({ ...input, ciphertext })).toEqual(plaintext);
  });

  it('opens nothing that was changed in any byte, cut, or bound to something else', () => {
    const input = { key: new Uint8Array(32).fill(1), nonce: new Uint8Array(12), associatedData: Uint8Array.of(7) };
    const ciphertext = suite.seal({ ...input, plaintext: new Uint8Array(32).fill(5) });
    for (let i = 0; i < ciphertext.length; i++) {
      const changed = ciphertext.slice();
      changed[i] = (changed[i] as number) ^ 1;
      expect(suite.open({ ...input, ciphertext: changed })).toBeUndefined();
    }
    expect(suite.open({ ...input, ciphertext: ciphertext.slice(1) })).toBeUndefined();
    expect(suite.open({ ...input, ciphertext: ciphertext.slice(0, 15) })).toBeUndefined();
    expect(suite.open({ ...input, ciphertext, associatedData: Uint8Array.of(8) })).toBeUndefined();
  });

  it('accepts the signature of RFC 8032 test 2, and no change of message, key, R or S', () => {
    const input = {
      publicKey: hex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c'),
      message: hex('72'),
      signature: hex(
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      ),
    };
    expect(suite.verify(input)).toBe(true);
    expect(suite.verify({ ...input, message: hex('73') })).toBe(false);
    for (const i of [0, 31, 32, 63]) {
      const signature = input.signature.slice();
      signature[i] = (signature[i] as number) ^ 1;
      expect(suite.verify({ ...input, signature })).toBe(false);
    }
  });

  it('refuses what only lenient verifiers accept', () => {
    for (const [claim, forged] of Object.entries(lenientSignatures())) {
      expect(suite.verify(forged), claim).toBe(false);
    }
  });

  it('agrees with RFC 7748 section 6.1, and refuses keys of small order and of other lengths', () => {
    const bob = hex('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb');
    const alicePublic = hex('8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a');
    expect(suite.x25519(bob).publicKey).toEqual(
      hex('de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f'),
    );
    expect(suite.x25519(bob).agree(alicePublic)).toEqual(
      hex('4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742'),
    );
    expect(suite.x25519(bob).agree(new Uint8Array(32))).toBeUndefined();
    expect(suite.x25519(bob).agree(new Uint8Array(31))).toBeUndefined();
  });

  it('answers false, never an exception, to bytes of any length', () => {
    fc.assert(
      fc.property(bytes, bytes, bytes, (signature, message, publicKey) => {
        expect(suite.verify({ signature, message, publicKey })).toBe(false);
      }),
    );
  });
});

describe('Node and browser', () => {
  it('hash, derive and seal alike', () => {
    fc.assert(
      fc.property(bytes, bytes, key, nonce, fc.integer({ min: 1, max: 100 }), (a, b, k, n, length) => {
        expect(nodeSuite.sha256(a, b)).toEqual(webSuite.sha256(a, b));
        const derivation = { secret: k, salt: a, info: b, length };
        expect(nodeSuite.hkdf(derivation)).toEqual(webSuite.hkdf(derivation));
        const input = { key: k, nonce: n, associatedData: a };
        const sealed = nodeSuite.seal({ ...input, plaintext: b });
        expect(sealed).toEqual(webSuite.seal({ ...input, plaintext: b }));
        expect(webSuite.open({ ...input, ciphertext: sealed })).toEqual(b);
      }),
    );
  });

  it('hash and derive alike at every length around those that Node treats in its own way', () => {
    const lengths = [0, 1, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 3000];
    const filled = (length: number): Uint8Array => Uint8Array.from({ length }, (_, n) => 7 * n + length);
    for (const length of lengths) {
      const message = filled(length);
      expect(nodeSuite.sha256(message)).toEqual(webSuite.sha256(message));
      expect(nodeSuite.sha256(filled(5), message)).toEqual(webSuite.sha256(filled(5), message));
      const derivations = [
        { secret: message, salt: filled(32), info: filled(70), length: 32 },
        { secret: filled(32), salt: message, info: filled(70), length: 32 },
        ...(length > 1024 ? [] : [{ secret: filled(32), salt: filled(32), info: message, length: 32 }]),
      ];
      for (const derivation of derivations) expect(nodeSuite.hkdf(derivation)).toEqual(webSuite.hkdf(derivation));
    }
  });

  it('agree on signatures made by Node', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const raw = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })).slice(-32);
    for (let i = 0; i < 10; i++) {
      const message = new Uint8Array(i * 7).fill(i);
      const signature = new Uint8Array(
        sign(null, message, createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }))),
      );
      for (const suite of [nodeSuite, webSuite])
        expect(suite.verify({ signature, message, publicKey: raw })).toBe(true);
    }
  });
});

/** Signatures that verifiers with a cofactor, without range checks or without key checks take for good. */
function lenientSignatures(): Record<string, { signature: Uint8Array; message: Uint8Array; publicKey: Uint8Array }> {
  const { Point } = ed25519;
  const order = Point.Fn.ORDER;
  const torsion = Point.fromBytes(hex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'));
  const message = hex('00112233');
  const encode = (scalar: bigint): Uint8Array =>
    hex((scalar.toString(16).padStart(64, '0').match(/../g) ?? []).reverse().join(''));
  const challenge = (R: Uint8Array, A: Uint8Array): bigint =>
    BigInt(
      `0x${Buffer.from(sha512(Buffer.concat([R, A, message])))
        .reverse()
        .toString('hex')}`,
    ) % order;
  const join = (R: Uint8Array, S: bigint): Uint8Array => new Uint8Array(Buffer.concat([R, encode(S)]));

  const secret = 1234567890123456789n;
  const key = Point.BASE.multiply(secret).toBytes();
  const mixedKey = Point.BASE.multiply(secret).add(torsion).toBytes();
  // A challenge that is a multiple of 8 would cancel the torsion of the key.
  let nonceScalar = 987654321n;
  while (challenge(Point.BASE.multiply(nonceScalar).toBytes(), mixedKey) % 8n === 0n) nonceScalar++;
  const goodR = Point.BASE.multiply(nonceScalar).toBytes();
  const goodS = (nonceScalar + challenge(goodR, key) * secret) % order;
  const mixedR = Point.BASE.multiply(nonceScalar).add(torsion).toBytes();
  const identity = Point.ZERO.toBytes();
  const nonCanonicalOne = hex('eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f');

  expect(nodeSuite.verify({ signature: join(goodR, goodS), message, publicKey: key })).toBe(true);
  return {
    'S + L': { signature: join(goodR, goodS + order), message, publicKey: key },
    'R with torsion (passes with the cofactor)': {
      signature: join(mixedR, (nonceScalar + challenge(mixedR, key) * secret) % order),
      message,
      publicKey: key,
    },
    'key with torsion (passes with the cofactor)': {
      signature: join(goodR, (nonceScalar + challenge(goodR, mixedKey) * secret) % order),
      message,
      publicKey: mixedKey,
    },
    'key of small order, R = identity, S = 0 (good for any message)': {
      signature: join(identity, 0n),
      message,
      publicKey: identity,
    },
    'key of order 8': { signature: join(torsion.toBytes(), 0n), message, publicKey: torsion.toBytes() },
    'key that encodes 1 as p + 1': { signature: join(identity, 0n), message, publicKey: nonCanonicalOne },
  };
}
