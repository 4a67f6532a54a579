/** Project Wycheproof (C2SP): symmetric primitives, Ed25519, X25519 and ML-KEM-768. */
import { isKemKey, type Kem } from '@basa/masking';
import { bytesOf, type Counted, isHex, type OutsideSuite, type Platform, Tally, unlessRefused } from './suite.ts';

type Result = 'valid' | 'invalid' | 'acceptable';

interface Group<Case> {
  readonly tests: readonly (Case & { readonly tcId: number; readonly result: Result })[];
  readonly ivSize?: number;
  readonly publicKey?: { readonly pk: string };
}

function suite<Case>(
  file: string,
  check: (one: Case & { readonly result: Result }, platform: Platform, group: Group<Case>) => boolean,
): OutsideSuite {
  return {
    files: [`wycheproof/${file}.json`],
    run([text = ''], platform): Counted {
      const tally = new Tally();
      const { testGroups } = JSON.parse(text) as { readonly testGroups: readonly Group<Case>[] };
      for (const group of testGroups)
        for (const one of group.tests) tally.check(one.tcId, () => check(one, platform, group));
      return tally.counted;
    },
  };
}

/** The bytes for a case that is valid, nothing for one that is not. */
function isExpected(result: Result, found: Uint8Array | undefined, expected: string): boolean {
  return result === 'valid' ? isHex(found, expected) : found === undefined;
}

interface Agreement {
  readonly public: string;
  readonly private: string;
  readonly shared: string;
}
interface Signed {
  readonly msg: string;
  readonly sig: string;
}
interface Derived {
  readonly ikm: string;
  readonly salt: string;
  readonly info: string;
  readonly size: number;
  readonly okm: string;
}
interface Sealed {
  readonly key: string;
  readonly iv: string;
  readonly aad: string;
  readonly msg: string;
  readonly ct: string;
  readonly tag: string;
}
interface Lattice {
  readonly seed: string;
  readonly m: string;
  readonly ek: string;
  readonly dk: string;
  readonly c: string;
  readonly K: string;
}

const MAX_HKDF_BYTES = 255 * 32;
const NONCE_BITS = 96;
const ALL_ZERO = /^0*$/;

export const WYCHEPROOF: Readonly<Record<string, OutsideSuite>> = {
  x25519: {
    files: ['wycheproof/x25519_test.json'],
    async run([text = ''], platform): Promise<Counted> {
      const tally = new Tally();
      const { testGroups } = JSON.parse(text) as { readonly testGroups: readonly Group<Agreement>[] };
      for (const one of testGroups.flatMap(({ tests }) => tests)) {
        const agreed = await platform.agree(bytesOf(one.private), bytesOf(one.public));
        // "Acceptable" are keys that a strict implementation may refuse: ours refuses exactly those of small order.
        tally.check(one.tcId, () => (ALL_ZERO.test(one.shared) ? agreed === undefined : isHex(agreed, one.shared)));
      }
      return tally.counted;
    },
  },

  ed25519: suite<Signed>('ed25519_test', (one, { suite: { verify } }, { publicKey }) => {
    const [publicBytes, message, signature] = [publicKey?.pk ?? '', one.msg, one.sig].map(bytesOf) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    return verify({ signature, message, publicKey: publicBytes }) === (one.result === 'valid');
  }),

  'hkdf-sha256': suite<Derived>('hkdf_sha256_test', (one, { suite: { hkdf } }) => {
    const [secret, salt, info] = [one.ikm, one.salt, one.info].map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array];
    const derived = unlessRefused(() => hkdf({ secret, salt, info, length: one.size }));
    return one.size > MAX_HKDF_BYTES ? derived === undefined : isExpected(one.result, derived, one.okm);
  }),

  'chacha20-poly1305': suite<Sealed>('chacha20_poly1305_test', (one, { suite: { seal, open } }, { ivSize }) => {
    const [key, nonce, associatedData, plaintext, ciphertext] = [
      one.key,
      one.iv,
      one.aad,
      one.msg,
      one.ct + one.tag,
    ].map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
    const opened = unlessRefused(() => open({ key, nonce, associatedData, ciphertext }));
    if (one.result === 'invalid') return opened === undefined && (ivSize === NONCE_BITS || seals() === undefined);
    return isHex(opened, one.msg) && isHex(seals(), one.ct + one.tag);

    function seals(): Uint8Array | undefined {
      return unlessRefused(() => seal({ key, nonce, associatedData, plaintext }));
    }
  }),

  'ml-kem-768 keys': suite<Lattice>('mlkem_768_keygen_seed_test', (one, { suite: { kem } }) => {
    const pair = made(kem).keyPair(bytesOf(one.seed));
    return isHex(pair.publicKey, one.ek) && isHex(pair.secretKey, one.dk);
  }),

  'ml-kem-768 encapsulation': suite<Lattice>('mlkem_768_encaps_test', (one, { suite: { kem } }) => {
    const key = bytesOf(one.ek);
    const encapsulated = isKemKey(key) ? made(kem).encapsulate(key, bytesOf(one.m)) : undefined;
    return (
      isExpected(one.result, encapsulated?.shared, one.K) && isExpected(one.result, encapsulated?.ciphertext, one.c)
    );
  }),

  'ml-kem-768 decapsulation': suite<Lattice>('mlkem_768_test', (one, { suite: { kem } }) => {
    const opened = unlessRefused(() => {
      const { publicKey, secretKey } = made(kem).keyPair(bytesOf(one.seed));
      return isHex(publicKey, one.ek) ? made(kem).decapsulate(secretKey, bytesOf(one.c)) : undefined;
    });
    return isExpected(one.result, opened, one.K);
  }),
};

function made(kem: Kem | undefined): Kem {
  if (kem === undefined) throw new Error('the platform was made without ML-KEM');
  return kem;
}
