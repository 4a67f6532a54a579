/**
 * The typed face of mcl's WebAssembly module. `load` makes a private instance, because the library's own front end shares one, and a second
 * `init` there (another curve, another serialization) would silently change ours.
 */
import createModule from 'mcl-wasm/dist/mcl_c.js';
import type { Kind } from '../group.ts';

/** Addresses are byte offsets into the memory of the module. */
type Address = number;
type Unary = (result: Address, operand: Address) => void;
type Binary = (result: Address, left: Address, right: Address) => void;
type Predicate = (operand: Address) => number;
/** Returns the number of bytes that were read or written, or 0 on failure. */
type Deserialize = (result: Address, bytes: Address, length: number) => number;
type Serialize = (bytes: Address, most: number, operand: Address) => number;

export interface MclModule {
  readonly HEAP8: Int8Array;
  readonly HEAP32: Int32Array;
  stackSave(): Address;
  stackAlloc(length: number): Address;
  stackRestore(stack: Address): void;
  _malloc(length: number): Address;
  _free(address: Address): void;

  _mclBn_init(curve: number, compiledTimeVar: number): number;
  _mclBn_setETHserialization(on: number): void;
  _mclBn_setMapToMode(mode: number): number;
  _mclBn_verifyOrderG1(on: number): void;
  _mclBn_verifyOrderG2(on: number): void;

  _mclBnFr_setBigEndianMod: Deserialize;
  readonly _mclBnFr_serialize: Serialize;
  readonly _mclBnFr_add: Binary;
  readonly _mclBnFr_sub: Binary;
  readonly _mclBnFr_mul: Binary;
  readonly _mclBnFr_inv: Unary;
  readonly _mclBnFr_isZero: Predicate;

  readonly _mclBnG1_deserialize: Deserialize;
  readonly _mclBnG1_serialize: Serialize;
  readonly _mclBnG1_isZero: Predicate;
  readonly _mclBnG1_neg: Unary;
  readonly _mclBnG1_add: Binary;
  readonly _mclBnG1_mul: Binary;
  readonly _mclBnG1_mulCT: Binary;
  _mclBnG1_hashAndMapToWithDst(
    result: Address,
    message: Address,
    messageLength: number,
    dst: Address,
    dstLength: number,
  ): number;

  readonly _mclBnG2_deserialize: Deserialize;
  readonly _mclBnG2_serialize: Serialize;
  readonly _mclBnG2_isZero: Predicate;
  readonly _mclBnG2_neg: Unary;
  readonly _mclBnG2_add: Binary;
  readonly _mclBnG2_mul: Binary;
  readonly _mclBnG2_mulCT: Binary;

  readonly _mclBnGT_deserialize: Deserialize;
  readonly _mclBnGT_serialize: Serialize;
  readonly _mclBnGT_isOne: Predicate;
  readonly _mclBnGT_isValid: Predicate;
  readonly _mclBnGT_mul: Binary;
  readonly _mclBnGT_pow: Binary;

  _mclBn_millerLoopVec(result: Address, g1s: Address, g2s: Address, count: number): void;
  readonly _mclBn_finalExp: Unary;
}

/** Bytes of an element in wasm memory; points are projective. */
export const SIZE: Readonly<Record<Kind, number>> = { scalar: 32, g1: 144, g2: 288, gt: 576 };

const BLS12_381 = 5;
const COMPILED_TIME_VAR = 46; // 4 units of Fr times 10 plus 6 units of Fp: the value this build was compiled for
const RFC_9380 = 5;

/** A fresh instance, set to BLS12-381, the Ethereum serialization, RFC 9380 hashing and subgroup checks. */
export async function loadMcl(): Promise<MclModule> {
  const module = (await createModule({ cryptoGetRandomValues: refuseRandomness })) as MclModule;
  if (module._mclBn_init(BLS12_381, COMPILED_TIME_VAR) !== 0) throw new Error('mcl does not know BLS12-381');
  module._mclBn_setETHserialization(1);
  if (module._mclBn_setMapToMode(RFC_9380) !== 0) throw new Error('mcl does not know RFC 9380');
  module._mclBn_verifyOrderG1(1);
  module._mclBn_verifyOrderG2(1);
  return module;
}

/** Randomness is always an argument here; mcl must never draw its own. */
function refuseRandomness(): never {
  throw new Error('mcl asked for randomness');
}

// Calls into mcl: operands go onto the wasm stack, the result comes back, and the block is overwritten.

type Operand = Uint8Array | Uint32Array;

export interface Called {
  /** The first `resultBytes` of the block. */
  readonly words: Uint32Array;
  /** The return value of the function. */
  readonly returned: number;
}

/** `invoke` gets the address of the result and of each operand, in order. */
export function call(
  mcl: MclModule,
  resultBytes: number,
  operands: readonly Operand[],
  invoke: (result: number, ...at: number[]) => number,
): Called {
  const stack = mcl.stackSave();
  const length = operands.reduce((sum, operand) => sum + aligned(operand.byteLength), aligned(resultBytes));
  try {
    const start = mcl.stackAlloc(length);
    let at = start + aligned(resultBytes);
    const addresses = operands.map((operand) => {
      const address = at;
      if (operand instanceof Uint32Array) mcl.HEAP32.set(operand, address >> 2);
      else mcl.HEAP8.set(operand, address);
      at += aligned(operand.byteLength);
      return address;
    });
    const returned = invoke(start, ...addresses);
    const words = new Uint32Array(aligned(resultBytes) >> 2);
    words.set(mcl.HEAP32.subarray(start >> 2, (start >> 2) + words.length));
    mcl.HEAP32.fill(0, start >> 2, (start + length) >> 2);
    return { words, returned };
  } finally {
    mcl.stackRestore(stack);
  }
}

function aligned(length: number): number {
  return (length + 15) & ~15;
}
