/** NIST's Automated Cryptographic Validation Protocol: AES-CTR as the keystream of masks, and ML-KEM-768 (FIPS 203). */
import { isKemKey, type KeystreamRequest } from '@basa/masking';
import { type Case, hexIn, isHex, type OutsideSuite, type Platform, Tally, unlessRefused } from './suite.ts';

interface Group extends Case {
  readonly tests: readonly Case[];
}

/** Questions with their answers, group by group. The cases of other groups are skipped. */
function suite(
  file: string,
  isOurs: (group: Group) => boolean,
  check: (one: Case, platform: Platform, group: Group) => boolean | Promise<boolean>,
): OutsideSuite {
  return {
    files: [`acvp/${file}.prompt.json`, `acvp/${file}.expectedResults.json`],
    async run(texts, platform) {
      const tally = new Tally();
      const [prompt = [], expected = []] = texts.map(
        (text) => (JSON.parse(text) as { readonly testGroups: readonly Group[] }).testGroups,
      );
      const answers = new Map(expected.flatMap(({ tests }) => tests.map((one) => [one['tcId'], one] as const)));
      for (const group of prompt) {
        if (!isOurs(group)) tally.skip(group.tests.length);
        else
          for (const one of group.tests)
            await tally.check(one['tcId'], () => check({ ...one, ...answers.get(one['tcId']) }, platform, group));
      }
      return tally.counted;
    },
  };
}

const BLOCK_BYTES = 16;
const isMlKem768 = (group: Group): boolean => group['parameterSet'] === 'ML-KEM-768';

export const ACVP: Readonly<Record<string, OutsideSuite>> = {
  'aes-128-ctr': suite(
    'ACVP-AES-CTR-1.0',
    (group) => group['keyLen'] === 128,
    async (one, { keystream }) => {
      const [key, counter, pt, ct] = hexIn(one, 'key', 'iv', 'pt', 'ct');
      const bits = Number(one['payloadLen']);
      const bytes = BLOCK_BYTES * Math.ceil(bits / (8 * BLOCK_BYTES));
      const request: KeystreamRequest = { stream: { key, counter }, firstByte: 0, counter, bytes };
      const stream = (await keystream(request)).slice();
      const length = Math.ceil(bits / 8);
      // Bits behind the last one of the payload do not count.
      const last = 0xff << ((8 - (bits % 8)) % 8);
      return Array.from({ length }, (_, at) => at).every((at) => {
        const differing = (pt[at] ?? 0) ^ (stream[at] ?? 0) ^ (ct[at] ?? 0);
        return (differing & (at === length - 1 ? last : 0xff)) === 0;
      });
    },
  ),

  'ml-kem-768 key generation': suite('ML-KEM-keyGen-FIPS203', isMlKem768, (one, { suite: { kem } }) => {
    const [seed] = hexIn({ seed: `${one['d']}${one['z']}` }, 'seed');
    const pair = kem?.keyPair(seed);
    return isHex(pair?.publicKey, one['ek']) && isHex(pair?.secretKey, one['dk']);
  }),

  'ml-kem-768 encapsulation and checks': suite(
    'ML-KEM-encapDecap-FIPS203',
    // Secret keys are made from their seed and never read, so there is no check of a secret key.
    (group) => isMlKem768(group) && group['function'] !== 'decapsulationKeyCheck',
    (one, { suite: { kem } }, group) => {
      const [ek, dk, m, c] = hexIn(one, 'ek', 'dk', 'm', 'c');
      if (group['function'] === 'encapsulationKeyCheck') return isKemKey(ek) === one['testPassed'];
      if (group['function'] !== 'encapsulation')
        return isHex(
          unlessRefused(() => kem?.decapsulate(dk, c)),
          one['k'],
        );
      const found = unlessRefused(() => kem?.encapsulate(ek, m));
      return isHex(found?.ciphertext, one['c']) && isHex(found?.shared, one['k']);
    },
  ),
};
