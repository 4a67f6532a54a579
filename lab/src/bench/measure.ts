/** Times alternatives against each other in one run: round by round in turn, so that noise affects them equally. */
import { cpuMs, median } from '@basa/simulator/virtual-time';

type Each<Name extends string, Value> = Readonly<Record<Name, Value>>;

/** The least milliseconds by the clock of one call of each alternative, after a warm-up: on a shared machine noise only ever adds. */
export function bestInTurn<Name extends string>(
  alternatives: Each<Name, () => void>,
  rounds: number,
): Each<Name, number> {
  const samples = mapped(alternatives, (work) => () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  });
  inTurn(samples, Math.max(2, Math.ceil(rounds / 5)));
  return mapped(inTurn(samples, rounds), (ms) => Math.min(...ms));
}

/** A turn repeats short work until it takes about this long, because the processor clock is coarse. */
const MIN_TURN_MS = 20;

/** The median milliseconds of processor time of one call of each alternative, over the rounds after a warm-up. */
export function processorTimeInTurn<Name extends string>(
  alternatives: Each<Name, () => void>,
  rounds: number,
): Each<Name, number> {
  const samples = mapped(alternatives, (work) => {
    const repeats = repeatsOf(work);
    return () => msOf(work, repeats);
  });
  return mapped(inTurn(samples, rounds), median);
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

function inTurn<Name extends string>(samples: Each<Name, () => number>, rounds: number): Each<Name, readonly number[]> {
  const found = mapped(samples, (): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const name in samples) found[name].push(samples[name]());
  }
  return found;
}

function mapped<Name extends string, From, To>(each: Each<Name, From>, change: (one: From) => To): Each<Name, To> {
  const entries = Object.entries<From>(each).map(([name, one]) => [name, change(one)]);
  return Object.fromEntries(entries) as Each<Name, To>;
}
