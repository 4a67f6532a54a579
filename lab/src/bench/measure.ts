/** Times alternatives against each other in one run: round by round in turn, so that noise affects them equally. */
import { cpuMs, median } from '@basa/simulator/virtual-time';

/** A turn repeats short work until it takes about this long, because the processor clock is coarse. */
const MIN_TURN_MS = 20;

/** The median milliseconds of processor time of one call of each alternative, over the rounds after a warm-up. */
export function processorTimeInTurn<Name extends string>(
  alternatives: Readonly<Record<Name, () => void>>,
  rounds: number,
): Record<Name, number> {
  const names = Object.keys(alternatives) as Name[];
  const turns = new Map(names.map((name) => [name, { repeats: repeatsOf(alternatives[name]), ms: [] as number[] }]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, { repeats, ms }] of turns) ms.push(msOf(alternatives[name], repeats));
  }
  return Object.fromEntries([...turns].map(([name, { ms }]) => [name, median(ms)])) as Record<Name, number>;
}

/** Doubles the repeats until a turn is long enough, which warms the code up as well. */
function repeatsOf(work: () => void): number {
  let repeats = 16;
  while (msOf(work, repeats) * repeats < MIN_TURN_MS) repeats *= 2;
  return repeats;
}

function msOf(work: () => void, repeats: number): number {
  const began = cpuMs();
  for (let n = 0; n < repeats; n++) work();
  return (cpuMs() - began) / repeats;
}
