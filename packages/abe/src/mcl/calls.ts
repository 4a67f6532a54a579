/** Calls into mcl: operands go onto the wasm stack, the result comes back, and the block is overwritten. */
import type { MclModule } from './module.ts';

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
