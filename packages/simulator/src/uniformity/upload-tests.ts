/** Statistical tests on uploads as a server stores them: each upload, and the sum and difference of every two uploads. */
import { elementBits, type Modulus, modulusSize } from '@basa/masking';
import { chiSquareTwoSample, chiSquareUniform, welch } from './statistics.ts';

/** One byte of every element of one vector, counted: 256 bins. */
interface Lane {
  readonly name: string;
  readonly counts: Uint32Array;
}

/** A test and how surprising its result is. */
export interface Suspicion {
  readonly name: string;
  readonly pValue: number;
}

/** Chi-square of every byte lane against the uniform distribution, the most surprising first. */
export function uniformityOf(uploads: readonly Uint32Array[], modulus: Modulus): readonly Suspicion[] {
  return sorted(lanesOf(uploads, modulus).map(({ name, counts }) => ({ name, ...chiSquareUniform(counts) })));
}

/** Uploads of fixed inputs against uploads of random ones, lane by lane, by their histograms and by their means. */
export function fixedVersusRandom(
  fixed: readonly Uint32Array[],
  random: readonly Uint32Array[],
  modulus: Modulus,
): readonly Suspicion[] {
  const others = lanesOf(random, modulus);
  return sorted(
    lanesOf(fixed, modulus).flatMap(({ name, counts }, n): Suspicion[] => {
      const other = (others[n] as Lane).counts;
      return [
        { name: `${name}, histograms`, pValue: chiSquareTwoSample(counts, other).pValue },
        { name: `${name}, means`, pValue: welch(counts, other).pValue },
      ];
    }),
  );
}

function sorted(suspicions: readonly Suspicion[]): readonly Suspicion[] {
  return suspicions.map(({ name, pValue }) => ({ name, pValue })).sort((a, b) => a.pValue - b.pValue);
}

function lanesOf(uploads: readonly Uint32Array[], modulus: Modulus): readonly Lane[] {
  const alone = uploads.map((vector, l) => ({ name: `y${l}`, vector }));
  const pairs = alone.flatMap((a, n) =>
    alone.slice(n + 1).flatMap((b) => [
      { name: `${a.name} + ${b.name}`, vector: combined(a.vector, b.vector, 1, modulus) },
      { name: `${a.name} - ${b.name}`, vector: combined(a.vector, b.vector, -1, modulus) },
    ]),
  );
  return [...alone, ...pairs].flatMap(({ name, vector }) => byteLanes(name, vector, elementBits(modulus)));
}

function combined(a: Uint32Array, b: Uint32Array, sign: 1 | -1, modulus: Modulus): Uint32Array {
  const size = modulusSize(modulus);
  return a.map((value, k) => {
    const total = value + sign * (b[k] as number);
    return total < 0 ? total + size : total % size;
  });
}

/** Bits 0-7, 8-15, .. and the top eight bits, which overlap if an element is not a whole number of bytes. */
function byteLanes(name: string, vector: Uint32Array, bits: number): readonly Lane[] {
  const shifts = Array.from({ length: Math.floor(bits / 8) }, (_, n) => 8 * n);
  if (bits % 8 !== 0) shifts.push(bits - 8);
  return shifts.map((shift) => {
    const counts = new Uint32Array(256);
    for (const value of vector) {
      const byte = (value >>> shift) & 0xff;
      counts[byte] = (counts[byte] as number) + 1;
    }
    return { name: `${name}, bits ${shift} to ${shift + 7}`, counts };
  });
}
