/** Community Cryptography Test Vectors (C2SP): corner cases of Ed25519 on which libraries differ, and rare paths of ML-KEM-768. */
import { isKemKey } from '@basa/masking';
import { bytesOf, type Case, hexIn, isHex, type OutsideSuite, Tally } from './suite.ts';

/**
 * Properties that a strict check without the cofactor refuses (RFC 8032, 5.1.7 with canonical encodings): R is compared as bytes, so a
 * second encoding of R differs, and a remainder of small order breaks the equation.
 */
const REFUSED = ['low_order_A', 'non_canonical_A', 'non_canonical_R', 'low_order_residue', 'reencoded_k'];

export const CCTV: Readonly<Record<string, OutsideSuite>> = {
  'ed25519 corners': {
    files: ['cctv/ed25519vectors.json'],
    async run([text = ''], { suite }) {
      const tally = new Tally();
      for (const one of JSON.parse(text) as readonly Case[]) {
        const [publicKey, signature] = hexIn(one, 'key', 'sig');
        const message = new TextEncoder().encode(String(one['msg']));
        const flags = (one['flags'] ?? []) as readonly string[];
        const isGood = !flags.some((flag) => REFUSED.includes(flag));
        await tally.check(one['number'], () => suite.verify({ signature, message, publicKey }) === isGood);
      }
      return tally.counted;
    },
  },

  'ml-kem-768 rare paths': {
    files: ['cctv/ml-kem-768-unluckysample.txt', 'cctv/ml-kem-768-strcmp.txt', 'cctv/ml-kem-768-intermediate.txt'],
    async run(texts, { suite: { kem } }) {
      const tally = new Tally();
      const [unlucky, compared, intermediate] = texts.map(valuesOf) as [Case, Case, Case];
      // The keys are those of the draft of FIPS 203, whose seed had another hash: they are read here, and not made.
      for (const [name, values] of Object.entries({ 'unlucky sample': unlucky, intermediate })) {
        const [ek, dk, m, c] = hexIn(values, 'ek', 'dk', 'm', 'c');
        const encapsulated = kem?.encapsulate(ek, m);
        await tally.check(`${name}: c`, () => isHex(encapsulated?.ciphertext, values['c']));
        await tally.check(`${name}: K`, () => isHex(encapsulated?.shared, values['K']));
        await tally.check(`${name}: opened`, () => isHex(kem?.decapsulate(dk, c), values['K']));
      }
      // The ciphertexts differ only behind a zero byte: a comparison that ends there would take the wrong one.
      const [dk, c] = hexIn(compared, 'dk', 'c');
      await tally.check('strcmp', () => isHex(kem?.decapsulate(dk, c), compared['K']));
      return tally.counted;
    },
  },

  'ml-kem-768 modulus': {
    files: ['cctv/ml-kem-768-modulus.txt.gz'],
    async run([text = '']) {
      const tally = new Tally();
      for (const [line, key] of text.trim().split('\n').entries())
        await tally.check(line, () => !isKemKey(bytesOf(key.trim())));
      return tally.counted;
    },
  },
};

/** The first value of each name. */
function valuesOf(text: string): Case {
  const values: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const [name, value] = line.split(' = ');
    if (name !== undefined && value !== undefined) values[name] ??= value.trim();
  }
  return values;
}
