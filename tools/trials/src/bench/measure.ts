/** Times alternatives against each other in one run: round by round in turn, so that noise meets them alike. */

export interface Timing {
  readonly bestMs: number;
  readonly medianMs: number;
}

/**
 * Runs every alternative once a round, `rounds` times after a warm-up. Compare by `bestMs`: on a shared machine
 * noise only ever adds.
 */
export function timeInTurn<Name extends string>(
  alternatives: Readonly<Record<Name, () => void>>,
  rounds: number,
): Record<Name, Timing> {
  const names = Object.keys(alternatives) as Name[];
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]));
  const warmUps = Math.max(2, Math.ceil(rounds / 5));
  for (let round = -warmUps; round < rounds; round++) {
    for (const name of names) {
      const start = process.hrtime.bigint();
      alternatives[name]();
      const elapsedMs = Number(process.hrtime.bigint() - start) / 1e6;
      if (round >= 0) samples.get(name)?.push(elapsedMs);
    }
  }
  return Object.fromEntries(names.map((name) => [name, summarise(samples.get(name) ?? [])])) as Record<Name, Timing>;
}

function summarise(samples: readonly number[]): Timing {
  const sorted = [...samples].sort((a, b) => a - b);
  return { bestMs: sorted[0] ?? Number.NaN, medianMs: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN };
}
