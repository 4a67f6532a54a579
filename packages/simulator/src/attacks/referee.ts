/**
 * Computes the information that an adversary has: adds and subtracts the adversary's vectors in every combination, and compares each result
 * with the true inputs. Only the referee knows these. Sums of several inputs do not count as findings.
 */

/** The vector that an honest user masked: x, without guard words and weight. */
export interface HonestInput {
  readonly name: string;
  readonly vector: Uint32Array;
}

interface Target {
  readonly name: string;
  readonly vector: readonly number[];
}

/** A vector of which fewer coordinates arrived could match by chance. */
const MIN_COORDINATES = 8;

/**
 * Names of every x and every x_a - x_b among all combinations of the vectors with coefficients -1, 0 and 1, in the
 * group of `size` elements. Vectors may be cut off: the part that is there must agree.
 */
export function findingsOf(
  vectors: readonly Uint32Array[],
  inputs: readonly HonestInput[],
  size: number,
): readonly string[] {
  const byFirst = new Map<number, Target[]>();
  for (const target of targetsOf(inputs, size)) {
    const first = target.vector[0] as number;
    byFirst.set(first, [...(byFirst.get(first) ?? []), target]);
  }
  const found = new Set<string>();
  const coefficients = vectors.map(() => 0);
  const coordinate = (k: number): number => {
    let total = 0;
    for (let n = 0; n < vectors.length; n++) {
      const coefficient = coefficients[n] as number;
      if (coefficient !== 0) total += coefficient * (vectors[n]?.[k] as number);
    }
    return residue(total, size);
  };
  const visit = (n: number): void => {
    if (n < vectors.length) {
      for (const coefficient of [0, 1, -1]) {
        coefficients[n] = coefficient;
        visit(n + 1);
      }
      coefficients[n] = 0;
      return;
    }
    if (coefficients.every((coefficient) => coefficient === 0)) return;
    const candidates = byFirst.get(coordinate(0)) ?? [];
    if (candidates.length === 0) return;
    const length = Math.min(...vectors.filter((_, m) => coefficients[m] !== 0).map((vector) => vector.length));
    if (length < MIN_COORDINATES) return;
    for (const { name, vector } of candidates) {
      if (vector.slice(0, length).every((value, k) => coordinate(k) === value)) found.add(name);
    }
  };
  visit(0);
  // A difference of two inputs that were both found reveals nothing more.
  const isImplied = (name: string): boolean => {
    const ends = name.split(' - ');
    return ends.length > 1 && ends.every((end) => found.has(end));
  };
  return [...found].filter((name) => !isImplied(name)).sort();
}

/** Every honest x and every difference of two, without zero, which is no secret. */
function targetsOf(inputs: readonly HonestInput[], size: number): readonly Target[] {
  const own = inputs
    .filter(({ vector }) => vector.some((value) => value !== 0))
    .map(({ name, vector }) => ({ name: `x of ${name}`, vector: [...vector] }));
  const differences = own.flatMap((a, n) =>
    own.slice(n + 1).map((b) => ({
      name: `${a.name} - ${b.name}`,
      vector: a.vector.map((value, k) => residue(value - (b.vector[k] as number), size)),
    })),
  );
  return [...own, ...differences.filter(({ vector }) => vector.some((value) => value !== 0))];
}

function residue(value: number, size: number): number {
  const rest = value % size;
  return rest < 0 ? rest + size : rest;
}
