/**
 * Multiples of one base, in wasm memory: digit times 64^position for every position, so that a multiplication is one
 * addition per digit. Digits run from -31 to 32, since to negate costs next to nothing: half the entries are enough.
 * Pays from about 30 multiplications on.
 */
import { SCALAR_BYTES } from '../group.ts';
import type { MclModule } from './module.ts';

const DIGIT_BITS = 6;
const BASE = 2 ** DIGIT_BITS;
const DIGITS = BASE / 2; // a digit of 0 needs no entry
const POSITIONS = Math.ceil(255 / DIGIT_BITS); // r has 255 bits: the top digit has room for a carry

export interface TableOperations {
  /** Bytes of an element. */
  readonly size: number;
  readonly add: (result: number, left: number, right: number) => void;
  readonly negate: (result: number, operand: number) => void;
  /** Brings points to z = 1, which makes adding them cheapest. */
  readonly normalize?: (results: number, operands: number, count: number) => void;
}

export class FixedBaseTable {
  readonly #mcl: MclModule;
  readonly #operations: TableOperations;
  #table: number | undefined;

  constructor(mcl: MclModule, operations: TableOperations, base: Uint32Array) {
    this.#mcl = mcl;
    this.#operations = operations;
    const { size, add } = operations;
    const table = mcl._malloc(POSITIONS * DIGITS * size);
    if (table === 0) throw new Error('mcl is out of memory');
    this.#table = table;
    mcl.HEAP32.set(base, table >> 2);
    for (let n = 1; n < POSITIONS * DIGITS; n++) {
      const entry = table + n * size;
      // Entry n is its predecessor plus the first of the row; a row starts with twice the last of the row above.
      const other = n % DIGITS === 0 ? n - 1 : n - (n % DIGITS);
      add(entry, entry - size, table + other * size);
    }
    operations.normalize?.(table, table, POSITIONS * DIGITS);
  }

  /** The multiple of the base by a scalar of 32 bytes, big-endian, not zero. */
  multiply(scalar: Uint8Array): Uint32Array {
    if (this.#table === undefined) throw new Error('this table has been destroyed');
    const mcl = this.#mcl;
    const { size, add, negate } = this.#operations;
    const stack = mcl.stackSave();
    try {
      const sum = mcl.stackAlloc(2 * size);
      const negative = sum + size;
      let isEmpty = true;
      let carry = 0;
      for (let position = 0; position < POSITIONS; position++) {
        const value = digitAt(scalar, position) + carry;
        carry = value > DIGITS ? 1 : 0;
        const digit = value - carry * BASE;
        if (digit === 0) continue;
        const entry = this.#table + (position * DIGITS + Math.abs(digit) - 1) * size;
        if (digit < 0) negate(negative, entry);
        const term = digit < 0 ? negative : entry;
        if (isEmpty) mcl.HEAP8.copyWithin(sum, term, term + size);
        else add(sum, sum, term);
        isEmpty = false;
      }
      if (isEmpty) throw new RangeError('the scalar is zero');
      const words = new Uint32Array(size >> 2);
      words.set(mcl.HEAP32.subarray(sum >> 2, (sum + size) >> 2));
      mcl.HEAP32.fill(0, sum >> 2, (sum + 2 * size) >> 2);
      return words;
    } finally {
      mcl.stackRestore(stack);
    }
  }

  destroy(): void {
    if (this.#table !== undefined) this.#mcl._free(this.#table);
    this.#table = undefined;
  }
}

function digitAt(scalar: Uint8Array, position: number): number {
  const bit = position * DIGIT_BITS;
  const at = SCALAR_BYTES - 1 - (bit >> 3);
  const pair = (scalar[at] ?? 0) | ((scalar[at - 1] ?? 0) << 8);
  return (pair >> (bit & 7)) & (BASE - 1);
}
