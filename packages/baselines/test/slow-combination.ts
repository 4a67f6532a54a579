/** Linear combinations again, slow and obvious: BigInt, no helper of the source. */
export function slowCombine(rows: readonly Uint32Array[], inputs: readonly Uint32Array[], order: bigint): number[][] {
  return rows.map((row) =>
    Array.from(inputs[0] ?? [], (_, k) => {
      let sum = 0n;
      for (const [m, input] of inputs.entries()) sum += BigInt(row[m] ?? 0) * BigInt(input[k] ?? 0);
      return Number(sum % order);
    }),
  );
}
