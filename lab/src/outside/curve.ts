/** BLS12-381 below CP-ABE: the encodings of zkcrypto, what a decoder must refuse, and the pairings of the Go library. */
import type { G1, G2, Group } from '@basa/abe';
import { concatBytes } from '@basa/masking';
import { bytesOf, type Counted, isHex, type OutsideSuite, type Platform, Tally } from './suite.ts';

interface Encodings {
  readonly [name: string]: readonly string[];
}

const POINTS = 'bls12-381/zkcrypto-points.json';

/** Entry number i is i times the generator; the first is infinity, which our decoders refuse. */
function multiples(kind: 'g1' | 'g2', name: string): OutsideSuite {
  return {
    files: [POINTS],
    run([text = ''], { group, everyNthPoint }: Platform): Counted {
      const tally = new Tally();
      const points = group[kind] as Group['g1'];
      let multiple: G1 | undefined;
      for (const [n, encoded] of ((JSON.parse(text) as Encodings)[name] ?? []).entries()) {
        if (n > 0) multiple = multiple === undefined ? points.generator : points.add(multiple, points.generator);
        if (n % everyNthPoint > 0) {
          tally.skip();
          continue;
        }
        const decoded = points.decode(bytesOf(encoded));
        const expected = multiple;
        tally.check(n, () =>
          expected === undefined
            ? decoded === undefined
            : isHex(points.encode(expected), encoded) &&
              decoded !== undefined &&
              isHex(points.encode(decoded), encoded),
        );
      }
      return tally.counted;
    },
  };
}

/** Every published encoding, changed: without its flag of compression, uncompressed, with an x that is not below p, cut, and negated. */
function refusals(kind: 'g1' | 'g2', name: string): OutsideSuite {
  return {
    files: [POINTS],
    run([text = ''], { group, everyNthPoint }: Platform): Counted {
      const tally = new Tally();
      const points = group[kind] as Group['g1'];
      const all = JSON.parse(text) as Encodings;
      const compressed = all[`${name}_Compressed`] ?? [];
      for (const [n, encoded] of compressed.entries()) {
        if (n % everyNthPoint > 0) {
          tally.skip();
          continue;
        }
        const bytes = bytesOf(encoded);
        const [plain, large, cut] = [bytes.slice(), bytes.slice(), bytes.slice(1)];
        plain[0] = (plain[0] ?? 0) & 0x7f;
        large.fill(0xff, 1, 48);
        large[0] = 0x9f;
        const refused = [plain, large, cut, bytesOf(all[`${name}_Uncompressed`]?.[n] ?? '')];
        tally.check(n, () => refused.every((one) => points.decode(one) === undefined));
      }
      return tally.counted;
    },
  };
}

/** Entry number i is e((i + 1) g1, (i + 1) g2). */
const pairings: OutsideSuite = {
  files: ['bls12-381/go-pairing.json'],
  run([text = ''], { group, everyNthPoint }: Platform): Counted {
    const tally = new Tally();
    const { g1, g2, gt } = group;
    let [a, b]: [G1, G2] = [g1.generator, g2.generator];
    for (const [n, expected] of (JSON.parse(text) as readonly string[]).entries()) {
      const [left, right] = [a, b];
      if (n % everyNthPoint > 0) tally.skip();
      else
        tally.check(n, () => isHex(highestFirst(gt.encode(group.pairingProduct([{ g1: left, g2: right }]))), expected));
      [a, b] = [g1.add(a, g1.generator), g2.add(b, g2.generator)];
    }
    return tally.counted;
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
