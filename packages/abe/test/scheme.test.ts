/** The scheme itself: who can read, who can't, and what a key is made of. */
import {
  and,
  attribute,
  decapsulate,
  decodeCiphertext,
  decrypt,
  encapsulate,
  encodeAttributeKey,
  encodeCiphertext,
  encrypt,
  freshKeyRandomness,
  keyGen,
  parsePolicy,
  prfKeyRandomness,
  setup,
  verifyKey,
  wipeMasterKey,
} from '@basa/abe';
import { ascii, DecodeError, equalBytes } from '@basa/masking';
import { describe, expect, it } from 'vitest';
import { flipBit, mclTools } from './tools.ts';

const tools = await mclTools('scheme');
const { group, suite, randomBytes } = tools;
const { publicKey, masterKey } = setup(tools);
const context = ascii('ward 7');
const plaintext = ascii('the patient is well');
const fresh = freshKeyRandomness(randomBytes);
const keyFor = (...attributes: string[]) => keyGen({ masterKey, attributes, randomness: fresh }, tools);
const encryptFor = (policy: string) => encrypt({ publicKey, policy: parsePolicy(policy), plaintext, context }, tools);
const refused = (reason: string) => ({ kind: 'refused', reason });

describe('decrypt', () => {
  it('opens a ciphertext with a satisfying key', () => {
    const ciphertext = encryptFor('doctor and (cardiology or 2 of (a, b, c))');
    for (const key of [keyFor('doctor', 'cardiology'), keyFor('c', 'doctor', 'a'), keyFor('doctor', 'a', 'b', 'c')]) {
      expect(decrypt({ ciphertext, key, context }, tools)).toEqual({ kind: 'opened', plaintext });
    }
  });

  it('refuses a key whose attributes do not satisfy the policy', () => {
    const ciphertext = encryptFor('doctor and (cardiology or 2 of (a, b, c))');
    for (const key of [keyFor('doctor'), keyFor('cardiology', 'a', 'b'), keyFor('doctor', 'a'), keyFor('x')]) {
      expect(decrypt({ ciphertext, key, context }, tools)).toEqual(refused('policy-not-satisfied'));
    }
  });

  it('opens an empty plaintext, and one of a megabyte', () => {
    for (const bytes of [new Uint8Array(0), new Uint8Array(2 ** 20).fill(7)]) {
      const policy = attribute('a');
      const ciphertext = encrypt({ publicKey, policy, plaintext: bytes, context }, tools);
      const opened = decrypt({ ciphertext, key: keyFor('a'), context }, tools);
      expect(opened.kind === 'opened' && equalBytes(opened.plaintext, bytes)).toBe(true);
    }
  });

  it('refuses a wrong context', () => {
    const ciphertext = encryptFor('a');
    const wrong = { ciphertext, key: keyFor('a'), context: ascii('ward 8') };
    expect(decrypt(wrong, tools)).toEqual(refused('not-authentic'));
  });

  it('refuses a key of another authority', () => {
    const other = setup(tools);
    const key = keyGen({ masterKey: other.masterKey, attributes: ['a'], randomness: fresh }, tools);
    expect(decrypt({ ciphertext: encryptFor('a'), key, context }, tools)).toEqual(refused('not-authentic'));
  });

  it('refuses a ciphertext whose policy was exchanged', () => {
    const { encapsulation, sealed } = encryptFor('a and b');
    for (const policy of ['a or b', 'a and c', '2 of (b, a)']) {
      const changed = { encapsulation: { ...encapsulation, policy: parsePolicy(policy) }, sealed };
      const opened = decrypt({ ciphertext: changed, key: keyFor('a', 'b', 'c'), context }, tools);
      expect(opened).toEqual(refused('not-authentic'));
    }
  });

  it('fails with an AEAD or decode error wherever a bit is flipped, never with garbage', () => {
    const key = keyFor('a', 'b');
    const bytes = encodeCiphertext(encryptFor('a and b'), group);
    for (let bit = 0; bit < 8 * bytes.length; bit += 5) {
      const opened = openBytes(flipBit(bytes, bit));
      expect(opened === DecodeError || opened === 'policy-not-satisfied' || opened === 'not-authentic').toBe(true);
    }

    function openBytes(damaged: Uint8Array): unknown {
      try {
        const result = decrypt({ ciphertext: decodeCiphertext(damaged, group), key, context }, tools);
        return result.kind === 'refused' ? result.reason : result.plaintext;
      } catch (error) {
        return error instanceof DecodeError ? DecodeError : error;
      }
    }
  });
});

describe('collusion', () => {
  const ciphertext = encryptFor('a and b');
  const [alice, bob] = [keyFor('a'), keyFor('b')];
  const [aliceA, bobB] = [alice.components[0], bob.components[0]];
  if (aliceA === undefined || bobB === undefined) throw new Error('a key lacks its component');

  it('fails for two users who pool the components of their keys', () => {
    for (const { d } of [alice, bob]) {
      const pooled = { d, components: [aliceA, bobB] };
      expect(decrypt({ ciphertext, key: pooled, context }, tools)).toEqual(refused('not-authentic'));
    }
  });

  it('fails with a sum of their keys', () => {
    const d = group.g2.add(alice.d, bob.d);
    const pooled = { d, components: [aliceA, bobB] };
    expect(decrypt({ ciphertext, key: pooled, context }, tools)).toEqual(refused('not-authentic'));
  });

  it('fails with a component renamed to the attribute that is missing', () => {
    const renamed = { d: alice.d, components: [aliceA, { ...aliceA, attribute: ascii('b') }] };
    expect(decrypt({ ciphertext, key: renamed, context }, tools)).toEqual(refused('not-authentic'));
  });

  it('fails for keys from one PRF as well', () => {
    const randomness = prfKeyRandomness({ prfKey: randomBytes(32), suite });
    const [one, two] = [
      keyGen({ masterKey, attributes: ['a', 'x'], randomness }, tools),
      keyGen({ masterKey, attributes: ['b', 'x'], randomness }, tools),
    ];
    const [a, b] = [one.components[0], two.components[0]];
    const shared = (key: typeof one) => group.g2.encode(key.components[1]?.djPrime ?? group.g2.generator);
    expect(shared(one)).not.toEqual(shared(two)); // the same r_x in both would give g1^(r - r') away
    if (a === undefined || b === undefined) throw new Error('a key lacks its component');
    const pooled = { d: one.d, components: [a, b] };
    expect(decrypt({ ciphertext, key: pooled, context }, tools)).toEqual(refused('not-authentic'));
  });
});

describe('keyGen', () => {
  it('gives the same key for the same request when its randomness comes from a PRF', () => {
    const prfKey = randomBytes(32);
    const make = (...attributes: string[]) => {
      const randomness = prfKeyRandomness({ prfKey, suite });
      return encodeAttributeKey(keyGen({ masterKey, attributes, randomness }, tools), group);
    };
    expect(make('a', 'b')).toEqual(make('b', 'a'));
    expect(make('a')).toEqual(make('a'));
    expect(make('a')).not.toEqual(make('b'));
  });

  it('gives another key each time when its randomness is fresh', () => {
    expect(encodeAttributeKey(keyFor('a'), group)).not.toEqual(encodeAttributeKey(keyFor('a'), group));
  });

  it('refuses an empty set, a repeated attribute and a short PRF key', () => {
    expect(() => keyFor()).toThrow(RangeError);
    expect(() => keyFor('a', 'b', 'a')).toThrow(RangeError);
    expect(() => prfKeyRandomness({ prfKey: new Uint8Array(16), suite })).toThrow(RangeError);
  });

  it('throws rather than use randomness that is all zeros', () => {
    const randomness = freshKeyRandomness((length) => new Uint8Array(length));
    expect(() => keyGen({ masterKey, attributes: ['a'], randomness }, tools)).toThrow(/randomness/);
  });

  it('makes keys that the holder can verify, and a broken one does not verify', () => {
    const key = keyFor('a', 'b');
    expect(verifyKey({ publicKey, key }, group)).toBe(true);
    expect(verifyKey({ publicKey: setup(tools).publicKey, key }, group)).toBe(false);
    expect(verifyKey({ publicKey, key: { ...key, d: group.g2.generator } }, group)).toBe(false);
  });

  it('can not be called after the master key has been wiped', () => {
    const gone = setup(tools);
    wipeMasterKey(group, gone.masterKey);
    const request = { masterKey: gone.masterKey, attributes: ['a'], randomness: fresh };
    expect(() => keyGen(request, tools)).toThrow(/wiped/);
  });
});

describe('the KEM by itself', () => {
  it('gives both sides the same 32 bytes, and others for another context', () => {
    const { encapsulation, key } = encapsulate({ publicKey, policy: and(attribute('a')), context }, tools);
    const holder = keyFor('a');
    expect(decapsulate({ encapsulation, key: holder, context }, tools)).toEqual(key);
    expect(key).toHaveLength(32);
    expect(decapsulate({ encapsulation, key: holder, context: ascii('x') }, tools)).not.toEqual(key);
    expect(decapsulate({ encapsulation, key: keyFor('b'), context }, tools)).toBeUndefined();
  });
});

describe('secrets', () => {
  it('do not print', () => {
    const printed = JSON.stringify([masterKey, keyFor('a').components[0]?.dj]);
    expect(printed).not.toMatch(/\d{3}/);
  });
});
