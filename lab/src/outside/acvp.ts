/** NIST's Automated Cryptographic Validation Protocol: AES-CTR as the keystream of masks, and ML-KEM-768 (FIPS 203). */
import { isKemKey, type KeystreamRequest } from '@basa/masking';
import { bytesOf, type Counted, isHex, type OutsideSuite, Tally, unlessRefused } from './suite.ts';

type Case = Readonly<Record<string, string | number | boolean>>;
interface Group {
  readonly tgId: number;
  readonly tests: readonly Case[];
  readonly keyLen?: number;
  readonly parameterSet?: string;
  readonly function?: string;
}

/** Questions with their answers, group by group. */
function* pairsOf(prompt: string, expected: string): Generator<{ readonly group: Group; readonly one: Case }> {
  const groups = (text: string): readonly Group[] => (JSON.parse(text) as { testGroups: Group[] }).testGroups;
  const answers = new Map(groups(expected).flatMap(({ tests }) => tests.map((one) => [one['tcId'], one] as const)));
  for (const group of groups(prompt))
    for (const one of group.tests) yield { group, one: { ...one, ...answers.get(one['tcId']) } };
}

const textOf = (one: Case, name: string): string => String(one[name] ?? '');
const hexOf = (one: Case, name: string): Uint8Array => bytesOf(textOf(one, name));

const BLOCK_BYTES = 16;

export const ACVP: Readonly<Record<string, OutsideSuite>> = {
  'aes-128-ctr': {
    files: ['acvp/ACVP-AES-CTR-1.0.prompt.json', 'acvp/ACVP-AES-CTR-1.0.expectedResults.json'],
    async run([prompt = '', expected = ''], { keystream }): Promise<Counted> {
      const tally = new Tally();
      for (const { group, one } of pairsOf(prompt, expected)) {
        if (group.keyLen !== 128) {
          tally.skip();
          continue;
        }
        const [key, counter, pt, ct] = ['key', 'iv', 'pt', 'ct'].map((name) => hexOf(one, name)) as [
          Uint8Array,
          Uint8Array,
          Uint8Array,
          Uint8Array,
        ];
        const bits = Number(one['payloadLen']);
        const bytes = BLOCK_BYTES * Math.ceil(bits / (8 * BLOCK_BYTES));
        const request: KeystreamRequest = { stream: { key, counter }, firstByte: 0, counter, bytes };
        const stream = (await keystream(request)).slice();
        const length = Math.ceil(bits / 8);
        // Bits behind the last one of the payload do not count.
        const last = 0xff << ((8 - (bits % 8)) % 8);
        const isRight = (at: number): boolean =>
          (((pt[at] ?? 0) ^ (stream[at] ?? 0) ^ (ct[at] ?? 0)) & (at === length - 1 ? last : 0xff)) === 0;
        tally.check(Number(one['tcId']), () => Array.from({ length }, (_, at) => at).every(isRight));
      }
      return tally.counted;
    },
  },

  'ml-kem-768 key generation': {
    files: ['acvp/ML-KEM-keyGen-FIPS203.prompt.json', 'acvp/ML-KEM-keyGen-FIPS203.expectedResults.json'],
    run([prompt = '', expected = ''], { suite: { kem } }): Counted {
      const tally = new Tally();
      for (const { group, one } of pairsOf(prompt, expected)) {
        if (group.parameterSet !== 'ML-KEM-768') {
          tally.skip();
          continue;
        }
        const pair = kem?.keyPair(bytesOf(textOf(one, 'd') + textOf(one, 'z')));
        tally.check(
          Number(one['tcId']),
          () => isHex(pair?.publicKey, textOf(one, 'ek')) && isHex(pair?.secretKey, textOf(one, 'dk')),
        );
      }
      return tally.counted;
    },
  },

  'ml-kem-768 encapsulation and checks': {
    files: ['acvp/ML-KEM-encapDecap-FIPS203.prompt.json', 'acvp/ML-KEM-encapDecap-FIPS203.expectedResults.json'],
    run([prompt = '', expected = ''], { suite: { kem } }): Counted {
      const tally = new Tally();
      for (const { group, one } of pairsOf(prompt, expected)) {
        // Secret keys are made from their seed and never read, so there is no check of a secret key.
        if (group.parameterSet !== 'ML-KEM-768' || group.function === 'decapsulationKeyCheck') {
          tally.skip();
          continue;
        }
        const name = Number(one['tcId']);
        if (group.function === 'encapsulationKeyCheck') {
          tally.check(name, () => isKemKey(hexOf(one, 'ek')) === one['testPassed']);
        } else if (group.function === 'encapsulation') {
          const found = unlessRefused(() => kem?.encapsulate(hexOf(one, 'ek'), hexOf(one, 'm')));
          tally.check(name, () => isHex(found?.ciphertext, textOf(one, 'c')) && isHex(found?.shared, textOf(one, 'k')));
        } else {
          const found = unlessRefused(() => kem?.decapsulate(hexOf(one, 'dk'), hexOf(one, 'c')));
          tally.check(name, () => isHex(found, textOf(one, 'k')));
        }
      }
      return tally.counted;
    },
  },
};
