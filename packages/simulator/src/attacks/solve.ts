/** Linear algebra over a prime field: the combinations of the inputs that a set of masked vectors reveals. */

/** The largest prime below 2^26: products stay exact in doubles, and no coefficient of a buffer comes near it. */
const PRIME = 67_108_859;

/** Coefficients by symbol. */
export type Combination = ReadonlyMap<number, number>;

/** One masked vector: its input, and the masks the adversary cannot compute, each with its sign. */
export interface MaskedRow {
  readonly inputs: Combination;
  readonly masks: Combination;
}

/** A basis, in reduced form, of the combinations of inputs that remain when the masks are eliminated. */
export function learnedCombinations(rows: readonly MaskedRow[]): readonly Combination[] {
  const left = withoutLoneMasks(rows);
  if (left.length === 0) return [];
  const masks = columnsOf(left.map((row) => row.masks));
  const inputs = columnsOf(left.map((row) => row.inputs));
  const matrix = left.map((row) => [...denseOf(row.masks, masks), ...denseOf(row.inputs, inputs)]);
  reduce(matrix);
  return matrix
    .filter((row) => row.slice(0, masks.length).every(isZero) && !row.every(isZero))
    .map((row) => new Map(inputs.flatMap((symbol, n) => nonZero(symbol, row[masks.length + n] as number))));
}

/** True if every combination of `some` is a combination of `all`. */
export function isSpannedBy(some: readonly Combination[], all: readonly Combination[]): boolean {
  return some.length === 0 || rankOf([...all, ...some]) === rankOf(all);
}

function rankOf(combinations: readonly Combination[]): number {
  const columns = columnsOf(combinations);
  const matrix = combinations.map((combination) => denseOf(combination, columns));
  reduce(matrix);
  return matrix.filter((row) => !row.every(isZero)).length;
}

/** `2 x0 - x3`, with a name for each symbol. */
export function describeCombination(combination: Combination, nameOf: (symbol: number) => string): string {
  const [first, ...rest] = [...combination].map(([symbol, coefficient]) => {
    const size = Math.abs(coefficient) === 1 ? '' : `${Math.abs(coefficient)} `;
    return { sign: coefficient < 0 ? '-' : '+', text: `${size}${nameOf(symbol)}` };
  });
  if (first === undefined) return '0';
  return [first.sign === '-' ? `-${first.text}` : first.text, ...rest.map(({ sign, text }) => `${sign} ${text}`)].join(
    ' ',
  );
}

/** A mask that occurs in only one row always hides that row, so the row can be left out. */
function withoutLoneMasks(rows: readonly MaskedRow[]): readonly MaskedRow[] {
  let left = rows;
  for (;;) {
    const uses = new Map<number, number>();
    for (const { masks } of left) for (const symbol of masks.keys()) uses.set(symbol, (uses.get(symbol) ?? 0) + 1);
    const next = left.filter(({ masks }) => [...masks.keys()].every((symbol) => uses.get(symbol) !== 1));
    if (next.length === left.length) return left;
    left = next;
  }
}

/** Reduced row echelon form, in place. */
function reduce(matrix: number[][]): void {
  const width = matrix[0]?.length ?? 0;
  let top = 0;
  for (let column = 0; column < width && top < matrix.length; column++) {
    const pivot = matrix.findIndex((row, n) => n >= top && row[column] !== 0);
    if (pivot < 0) continue;
    [matrix[top], matrix[pivot]] = [matrix[pivot] as number[], matrix[top] as number[]];
    const pivotRow = matrix[top] as number[];
    const scale = inverse(pivotRow[column] as number);
    for (let n = 0; n < width; n++) pivotRow[n] = ((pivotRow[n] as number) * scale) % PRIME;
    for (const row of matrix) {
      const factor = row[column] as number;
      if (row === pivotRow || factor === 0) continue;
      for (let n = 0; n < width; n++) {
        row[n] = ((row[n] as number) + (PRIME - factor) * (pivotRow[n] as number)) % PRIME;
      }
    }
    top++;
  }
}

/** a^(p-2). */
function inverse(value: number): number {
  let [result, base] = [1, value];
  for (let exponent = PRIME - 2; exponent > 0; exponent = Math.floor(exponent / 2)) {
    if (exponent % 2 === 1) result = (result * base) % PRIME;
    base = (base * base) % PRIME;
  }
  return result;
}

function columnsOf(combinations: readonly Combination[]): readonly number[] {
  return [...new Set(combinations.flatMap((combination) => [...combination.keys()]))].sort((a, b) => a - b);
}

function denseOf(combination: Combination, columns: readonly number[]): number[] {
  return columns.map((symbol) => ((combination.get(symbol) ?? 0) + PRIME) % PRIME);
}

/** The residue of smallest size, for people. */
function nonZero(symbol: number, residue: number): [number, number][] {
  if (residue === 0) return [];
  return [[symbol, residue > PRIME / 2 ? residue - PRIME : residue]];
}

const isZero = (value: number): boolean => value === 0;
