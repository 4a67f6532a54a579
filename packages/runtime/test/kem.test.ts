/** conformance/vectors/ml-kem.json: what NIST publishes of ML-KEM-768, and the draft of X-Wing of the hash that combines two secrets. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { combineSecrets, fromHex, isKemKey, type Kem, type Suite, toHex } from '@basa/masking';
import { describe, expect, it } from 'vitest';
import { withKem } from '../src/kem.ts';
import { nodeSuite } from '../src/node/index.ts';
import { webSuite, webSuiteWithKem } from '../src/web/index.ts';

type Lines<Name extends string> = readonly Readonly<Record<Name, string>>[];
interface KemVectors {
  readonly keyGen: Lines<'d' | 'z' | 'ek' | 'dk'>;
  readonly encapsulation: Lines<'ek' | 'm' | 'c' | 'k'>;
  readonly decapsulation: readonly { dk: string; c: string; k: string; isValid: boolean }[];
  readonly keyCheck: readonly { ek: string; isGood: boolean }[];
  readonly xWing: Lines<'seed' | 'eseed' | 'pk' | 'ct' | 'ss'>;
}
const vectors: KemVectors = JSON.parse(
  readFileSync(new URL('../../../conformance/vectors/ml-kem.json', import.meta.url), 'utf8'),
);
const bytes = (hex: string): Uint8Array => fromHex(hex) ?? new Uint8Array();
const kemOf = ({ kem }: Suite): Kem => kem as Kem;
const SUITES: readonly (readonly [string, Suite])[] = [
  ['Node', withKem(nodeSuite)],
  ['browsers', await webSuiteWithKem()],
];

describe.each(SUITES)('ML-KEM-768 in %s', (_, suite) => {
  const kem = kemOf(suite);

  it('makes the published keys of d and z', () => {
    for (const { d, z, ek, dk } of vectors.keyGen) {
      const { publicKey, secretKey } = kem.keyPair(bytes(d + z));
      expect([toHex(publicKey), toHex(secretKey)]).toEqual([ek, dk]);
    }
  });

  it('encapsulates with a given m, the same when the key was expanded before', () => {
    for (const { ek, m, c, k } of [...vectors.encapsulation, ...vectors.encapsulation]) {
      const { ciphertext, shared } = kem.encapsulate(bytes(ek), bytes(m));
      expect([toHex(ciphertext), toHex(shared)]).toEqual([c, k]);
    }
  });

  it('decapsulates, and rejects a modified ciphertext with another secret and no error', () => {
    expect(vectors.decapsulation.map(({ isValid }) => isValid)).toContain(false);
    for (const { dk, c, k } of vectors.decapsulation) expect(toHex(kem.decapsulate(bytes(dk), bytes(c)))).toBe(k);
  });

  it('tells two keys apart that begin alike', () => {
    const [{ ek, m, c }] = vectors.encapsulation as [KemVectors['encapsulation'][number]];
    const other = bytes(ek);
    other[1183] = (other[1183] as number) ^ 1;
    expect(toHex(kem.encapsulate(other, bytes(m)).ciphertext)).not.toBe(c);
    expect(toHex(kem.encapsulate(bytes(ek), bytes(m)).ciphertext)).toBe(c);
  });

  it('and X25519 give the shared secrets of X-Wing', () => {
    for (const { seed, eseed, pk, ct, ss } of vectors.xWing) {
      const expanded = createHash('shake256', { outputLength: 96 }).update(bytes(seed)).digest();
      const own = { kem: kem.keyPair(expanded.subarray(0, 64)), curve: suite.x25519(expanded.subarray(64)) };
      const { ciphertext, shared } = kem.encapsulate(own.kem.publicKey, bytes(eseed).subarray(0, 32));
      const ephemeral = suite.x25519(bytes(eseed).subarray(32));
      expect(toHex(own.kem.publicKey) + toHex(own.curve.publicKey)).toBe(pk);
      expect(toHex(ciphertext) + toHex(ephemeral.publicKey)).toBe(ct);
      const agreed = ephemeral.agree(own.curve.publicKey) as Uint8Array;
      const { publicKey } = own.curve;
      const combined = combineSecrets(kem, { shared, agreed, ephemeralKey: ephemeral.publicKey, publicKey });
      expect(toHex(combined)).toBe(ss);
    }
  });
});

it('an encapsulation key is good by the modulus check of FIPS 203 alone, and by its length', () => {
  expect(vectors.keyCheck.map(({ ek }) => isKemKey(bytes(ek)))).toEqual(vectors.keyCheck.map(({ isGood }) => isGood));
  const [{ ek }] = vectors.encapsulation as [KemVectors['encapsulation'][number]];
  expect(isKemKey(bytes(ek))).toBe(true);
  expect(isKemKey(bytes(ek).subarray(1))).toBe(false);
  expect(isKemKey(new Uint8Array(1185))).toBe(false);
});

it.each([
  [0, [0x00, 0x0d, 0], true], // 3328
  [0, [0x01, 0x0d, 0], false], // 3329
  [1149, [0, 0x00, 0xd0], true],
  [1149, [0, 0x10, 0xd0], false],
])('a coefficient at byte %i with %j is below the prime: %j', (at, coefficient, isGood) => {
  const key = new Uint8Array(1184);
  key.set(coefficient, at);
  expect(isKemKey(key)).toBe(isGood);
});

it('nobody has ML-KEM before it is loaded', () => {
  expect([nodeSuite.kem, webSuite.kem]).toEqual([undefined, undefined]);
});
