/** BLS12-381 below CP-ABE: the encodings of zkcrypto, what a decoder must refuse, and the pairings of the Go library. */
import type { G1, G2, Group } from '@basa/abe';
import { concatBytes } from '@basa/masking';
import { bytesOf, type Counted, isHex, type OutsideSuite, type Platform, Tally } from './suite.ts';

interface Encodings {
  readonly [name: string]: readonly string[];
}

const POINTS = 'bls12-381/zkcrypto-points.json';

/** Checks every n-th of the published entries, each with its number. */
async function each(
  entries: readonly string[],
  { everyNthPoint }: Platform,
  check: (encoded: string, n: number) => boolean,
): Promise<Counted> {
  const tally = new Tally();
  for (const [n, encoded] of entries.entries()) {
    if (n % everyNthPoint > 0) tally.skip();
    else await tally.check(n, () => check(encoded, n));
  }
  return tally.counted;
}

/** Entry number i is i times the generator; the first is infinity, which our decoders refuse. */
function multiples(kind: 'g1' | 'g2', name: string): OutsideSuite {
  return {
    files: [POINTS],
    run([text = ''], platform) {
      const points = platform.group[kind] as Group['g1'];
      let [at, multiple] = [1, points.generator];
      return each((JSON.parse(text) as Encodings)[name] ?? [], platform, (encoded, n) => {
        for (; at < n; at++) multiple = points.add(multiple, points.generator);
        const decoded = points.decode(bytesOf(encoded));
        if (n === 0) return decoded === undefined;
        return (
          isHex(points.encode(multiple), encoded) && decoded !== undefined && isHex(points.encode(decoded), encoded)
        );
      });
    },
  };
}

/** Every published encoding, changed: without its flag of compression, uncompressed, with an x that is not below p, cut, and negated. */
function refusals(kind: 'g1' | 'g2', name: string): OutsideSuite {
  return {
    files: [POINTS],
    run([text = ''], platform) {
      const points = platform.group[kind] as Group['g1'];
      const all = JSON.parse(text) as Encodings;
      return each(all[`${name}_Compressed`] ?? [], platform, (encoded, n) => {
        const bytes = bytesOf(encoded);
        const [plain, large, cut] = [bytes.slice(), bytes.slice(), bytes.slice(1)];
        plain[0] = (plain[0] ?? 0) & 0x7f;
        large.fill(0xff, 1, 48);
        large[0] = 0x9f;
        const refused = [plain, large, cut, bytesOf(all[`${name}_Uncompressed`]?.[n] ?? '')];
        return refused.every((one) => points.decode(one) === undefined);
      });
    },
  };
}

/** Entry number i is e((i + 1) g1, (i + 1) g2). */
const pairings: OutsideSuite = {
  files: ['bls12-381/go-pairing.json'],
  run([text = ''], platform) {
    const { group } = platform;
    const { g1, g2, gt } = group;
    let [at, a, b]: [number, G1, G2] = [0, g1.generator, g2.generator];
    return each(JSON.parse(text) as readonly string[], platform, (expected, n) => {
      for (; at < n; at++) [a, b] = [g1.add(a, g1.generator), g2.add(b, g2.generator)];
      return isHex(highestFirst(gt.encode(group.pairingProduct([{ g1: a, g2: b }]))), expected);
    });
  },
};

/** The Go library writes the 12 coefficients in the other order. */
function highestFirst(encoded: Uint8Array): Uint8Array {
  const coefficients = Array.from({ length: 12 }, (_, n) => encoded.subarray(48 * n, 48 * (n + 1)));
  return concatBytes(...coefficients.reverse());
}

export const CURVE: Readonly<Record<string, OutsideSuite>> = {
  'bls12-381 G1 encodings': multiples('g1', 'G1_Compressed'),
  'bls12-381 G2 encodings': multiples('g2', 'G2_Compressed'),
  'bls12-381 G1 refusals': refusals('g1', 'G1'),
  'bls12-381 G2 refusals': refusals('g2', 'G2'),
  'bls12-381 pairings': pairings,
};
