/** Linear combinations of vectors over a prime field: the port that wasm SIMD fills, and its plain TypeScript version. */
import { FIELD_PRIME } from '@basa/masking';

/** Vectors and coefficients are canonical; all vectors of one call have one length. */
export interface CombinationKernel {
  readonly name: string;
  readonly order: number;
  /** outputs[j] = sum_m rows[j][m] * inputs[m]. Outputs are overwritten and must not be among the inputs. */
  combine(rows: readonly Uint32Array[], inputs: readonly Uint32Array[], outputs: readonly Uint32Array[]): void;
}

/** Words that stay in the cache while all inputs pass over them. */
const BLOCK_WORDS = 2048;

/** 16-bit half of a coefficient times 32-bit word: 31 such products and a remainder stay below 2^53. */
const PRODUCTS_AT_ONCE = 31;

/** The kernel in plain TypeScript: exact in doubles, reduced only as often as they need. */
export function plainCombinationKernel(order: number = FIELD_PRIME): CombinationKernel {
  const low = new Float64Array(BLOCK_WORDS);
  const high = new Float64Array(BLOCK_WORDS);
  return {
    name: 'plain TypeScript',
    order,
    combine(rows, inputs, outputs) {
      const length = inputs[0]?.length ?? 0;
      for (let start = 0; start < length; start += BLOCK_WORDS) {
        const words = Math.min(BLOCK_WORDS, length - start);
        for (const [j, row] of rows.entries()) {
          low.fill(0);
          high.fill(0);
          for (let m = 0; m < inputs.length; m++) {
            accumulateInPlace(low, high, inputs[m] as Uint32Array, start, words, row[m] as number);
            if (m % PRODUCTS_AT_ONCE === PRODUCTS_AT_ONCE - 1) reduceInPlace(low, high, words, order);
          }
          joinInto(outputs[j] as Uint32Array, start, words, low, high, order);
        }
      }
    },
  };
}

function accumulateInPlace(
  low: Float64Array,
  high: Float64Array,
  input: Uint32Array,
  start: number,
  words: number,
  coefficient: number,
): void {
  const lowHalf = coefficient & 0xffff;
  const highHalf = coefficient >>> 16;
  for (let k = 0; k < words; k++) {
    const word = input[start + k] as number;
    low[k] = (low[k] as number) + lowHalf * word;
    high[k] = (high[k] as number) + highHalf * word;
  }
}

function reduceInPlace(low: Float64Array, high: Float64Array, words: number, order: number): void {
  for (let k = 0; k < words; k++) {
    low[k] = remainder(low[k] as number, order);
    high[k] = remainder(high[k] as number, order);
  }
}

/** low + 2^16 high. */
function joinInto(
  output: Uint32Array,
  start: number,
  words: number,
  low: Float64Array,
  high: Float64Array,
  order: number,
): void {
  for (let k = 0; k < words; k++) {
    const shifted = remainder(high[k] as number, order) * 65_536;
    output[start + k] = remainder(shifted + remainder(low[k] as number, order), order);
  }
}

/** value mod order for value < 2^53. The quotient may be one too large or small; `%` on doubles is many times slower. */
function remainder(value: number, order: number): number {
  const rest = value - Math.floor(value / order) * order;
  return rest < 0 ? rest + order : rest >= order ? rest - order : rest;
}
