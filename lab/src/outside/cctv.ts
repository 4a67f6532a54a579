/** Community Cryptography Test Vectors (C2SP): corner cases of Ed25519 on which libraries differ, and rare paths of ML-KEM-768. */
import { isKemKey } from '@basa/masking';
import { bytesOf, isHex, type OutsideSuite, Tally } from './suite.ts';

interface Corner {
  readonly number: number;
  readonly key: string;
  readonly sig: string;
  readonly msg: string;
  readonly flags: readonly string[] | null;
}

/**
 * Properties that a strict check without the cofactor refuses (RFC 8032, 5.1.7 with canonical encodings): R is compared as bytes, so a
 * second encoding of R differs, and a remainder of small order breaks the equation.
 */
const REFUSED = new Set(['low_order_A', 'non_canonical_A', 'non_canonical_R', 'low_order_residue', 'reencoded_k']);

export const CCTV: Readonly<Record<string, OutsideSuite>> = {
  'ed25519 corners': {
    files: ['cctv/ed25519vectors.json'],
    run([text = ''], { suite }) {
      const tally = new Tally();
      for (const { number, key, sig, msg, flags } of JSON.parse(text) as readonly Corner[]) {
        const signed = { signature: bytesOf(sig), message: new TextEncoder().encode(msg), publicKey: bytesOf(key) };
        const isGood = !(flags ?? []).some((flag) => REFUSED.has(flag));
        tally.check(number, () => suite.verify(signed) === isGood);
      }
      return tally.counted;
    },
  },

  'ml-kem-768 rare paths': {
    files: ['cctv/ml-kem-768-unluckysample.txt', 'cctv/ml-kem-768-strcmp.txt', 'cctv/ml-kem-768-intermediate.txt'],
    run(texts, { suite: { kem } }) {
      const tally = new Tally();
      const [unlucky, compared, intermediate] = texts.map(valuesOf) as [Values, Values, Values];
      // The keys are those of the draft of FIPS 203, whose seed had another hash: they are read here, and not made.
      for (const [name, values] of [
        ['unlucky sample', unlucky],
        ['intermediate', intermediate],
      ] as const) {
        const [ek, dk, m] = ['ek', 'dk', 'm'].map((part) => bytesOf(values[part] ?? '')) as [
          Uint8Array,
          Uint8Array,
          Uint8Array,
        ];
        const encapsulated = kem?.encapsulate(ek, m);
        tally.check(`${name}: c`, () => isHex(encapsulated?.ciphertext, values['c'] ?? ''));
        tally.check(`${name}: K`, () => isHex(encapsulated?.shared, values['K'] ?? ''));
        tally.check(`${name}: opened`, () =>
          isHex(kem?.decapsulate(dk, bytesOf(values['c'] ?? '')), values['K'] ?? ''),
        );
      }
      // The ciphertexts differ only behind a zero byte: a comparison that ends there would take the wrong one.
      const [dk, c] = [bytesOf(compared['dk'] ?? ''), bytesOf(compared['c'] ?? '')];
      tally.check('strcmp', () => isHex(kem?.decapsulate(dk, c), compared['K'] ?? ''));
      return tally.counted;
    },
  },

  'ml-kem-768 modulus': {
    files: ['cctv/ml-kem-768-modulus.txt.gz'],
    run([text = '']) {
      const tally = new Tally();
      for (const [line, key] of text.trim().split('\n').entries())
        tally.check(line, () => !isKemKey(bytesOf(key.trim())));
      return tally.counted;
    },
  },
};

type Values = Readonly<Record<string, string>>;

/** The first value of each name. */
function valuesOf(text: string): Values {
  const values: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const [name, value] = line.split(' = ');
    if (name !== undefined && value !== undefined) values[name] ??= value.trim();
  }
  return values;
}
