/** Project Wycheproof (C2SP): symmetric primitives, Ed25519, X25519 and ML-KEM-768. */
import { isKemKey, type Kem } from '@basa/masking';
import { type Case, hexIn, isHex, type OutsideSuite, type Platform, Tally, unlessRefused } from './suite.ts';

type Check = (one: Case, platform: Platform, group: Case) => boolean | Promise<boolean>;

function suite(file: string, check: Check): OutsideSuite {
  return {
    files: [`wycheproof/${file}.json`],
    async run([text = ''], platform) {
      const tally = new Tally();
      const { testGroups } = JSON.parse(text) as {
        readonly testGroups: readonly { readonly tests: readonly Case[] }[];
      };
      for (const group of testGroups)
        for (const one of group.tests) await tally.check(one['tcId'], () => check(one, platform, group));
      return tally.counted;
    },
  };
}

/** The bytes for a case that is valid, nothing for one that is not. */
function isExpected({ result }: Case, found: Uint8Array | undefined, expected: unknown): boolean {
  return result === 'valid' ? isHex(found, expected) : found === undefined;
}

const MAX_HKDF_BYTES = 255 * 32;
const NONCE_BITS = 96;
const ALL_ZERO = /^0*$/;

export const WYCHEPROOF: Readonly<Record<string, OutsideSuite>> = {
  x25519: suite('x25519_test', async (one, platform) => {
    const agreed = await platform.agree(...hexIn(one, 'private', 'public'));
    // "Acceptable" are keys that a strict implementation may refuse: ours refuses exactly those of small order.
    return ALL_ZERO.test(String(one['shared'])) ? agreed === undefined : isHex(agreed, one['shared']);
  }),

  ed25519: suite('ed25519_test', (one, { suite: { verify } }, { publicKey: key }) => {
    const [publicKey] = hexIn(key as Case, 'pk');
    const [message, signature] = hexIn(one, 'msg', 'sig');
    return verify({ signature, message, publicKey }) === (one['result'] === 'valid');
  }),

  'hkdf-sha256': suite('hkdf_sha256_test', (one, { suite: { hkdf } }) => {
    const [secret, salt, info] = hexIn(one, 'ikm', 'salt', 'info');
    const length = Number(one['size']);
    const derived = unlessRefused(() => hkdf({ secret, salt, info, length }));
    return length > MAX_HKDF_BYTES ? derived === undefined : isExpected(one, derived, one['okm']);
  }),

  'chacha20-poly1305': suite('chacha20_poly1305_test', (one, { suite: { seal, open } }, { ivSize }) => {
    const [key, nonce, associatedData, plaintext] = hexIn(one, 'key', 'iv', 'aad', 'msg');
    const sealed = `${one['ct']}${one['tag']}`;
    const [ciphertext] = hexIn({ sealed }, 'sealed');
    const opened = unlessRefused(() => open({ key, nonce, associatedData, ciphertext }));
    const seals = (): Uint8Array | undefined => unlessRefused(() => seal({ key, nonce, associatedData, plaintext }));
    if (one['result'] === 'invalid') return opened === undefined && (ivSize === NONCE_BITS || seals() === undefined);
    return isHex(opened, one['msg']) && isHex(seals(), sealed);
  }),

  'ml-kem-768 keys': suite('mlkem_768_keygen_seed_test', (one, { suite: { kem } }) => {
    const pair = made(kem).keyPair(...hexIn(one, 'seed'));
    return isHex(pair.publicKey, one['ek']) && isHex(pair.secretKey, one['dk']);
  }),

  'ml-kem-768 encapsulation': suite('mlkem_768_encaps_test', (one, { suite: { kem } }) => {
    const [key, m] = hexIn(one, 'ek', 'm');
    const found = isKemKey(key) ? made(kem).encapsulate(key, m) : undefined;
    return isExpected(one, found?.shared, one['K']) && isExpected(one, found?.ciphertext, one['c']);
  }),

  'ml-kem-768 decapsulation': suite('mlkem_768_test', (one, { suite: { kem } }) => {
    const [seed, c] = hexIn(one, 'seed', 'c');
    const opened = unlessRefused(() => {
      const { publicKey, secretKey } = made(kem).keyPair(seed);
      return isHex(publicKey, one['ek']) ? made(kem).decapsulate(secretKey, c) : undefined;
    });
    return isExpected(one, opened, one['K']);
  }),
};

function made(kem: Kem | undefined): Kem {
  if (kem === undefined) throw new Error('the platform was made without ML-KEM');
  return kem;
}
