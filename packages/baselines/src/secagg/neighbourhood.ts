/** The number of neighbours SecAgg+ needs, and how many of them open a secret: the exact rule of Bell et al. 2020. */
import { hasRegularGraph } from './graph.ts';

export interface Risk {
  /** gamma: the fraction of users that collude with the server. */
  readonly corrupt: number;
  /** delta: the fraction that may drop out. */
  readonly dropped: number;
  /** sigma and eta: bits of security and of correctness. */
  readonly securityBits?: number;
  readonly correctnessBits?: number;
}

export interface Neighbourhood {
  readonly degree: number;
  readonly threshold: number;
}

/**
 * The smallest k, and with it the smallest t, such that
 *   (i)  P[Hyper(n-1, gamma n, k) >= t] + (gamma + delta)^(k/2) < 2^-sigma / n, and
 *   (ii) P[Hyper(n-1, (1-delta) n, k) <= t] < 2^-eta / n;
 * undefined if no k < n satisfies both, and the complete graph must be used.
 */
export function chooseNeighbourhood(
  users: number,
  { corrupt, dropped, securityBits = 40, correctnessBits = 30 }: Risk,
): Neighbourhood | undefined {
  const insecure = 2 ** -securityBits / users;
  const incorrect = 2 ** -correctnessBits / users;
  for (let degree = 1; degree < users; degree++) {
    const apart = (corrupt + dropped) ** (degree / 2);
    if (apart >= insecure || !hasRegularGraph(users, degree)) continue;
    const colluding = tailsFrom(hypergeometric(users - 1, Math.floor(corrupt * users), degree));
    const threshold = colluding.findIndex((tail) => tail + apart < insecure);
    const surviving = hypergeometric(users - 1, Math.floor((1 - dropped) * users), degree);
    const tooFew = surviving.slice(0, threshold + 1).reduce((sum, chance) => sum + chance, 0);
    if (threshold >= 1 && tooFew < incorrect) return { degree, threshold };
  }
  return undefined;
}

/** P[X = i], i = 0 .. draws: the number of marked items among `draws` drawn without replacement. */
export function hypergeometric(population: number, marked: number, draws: number): number[] {
  const rest = population - marked;
  const logChance = (i: number): number =>
    logChoose(marked, i) + logChoose(rest, draws - i) - logChoose(population, draws);
  return Array.from({ length: draws + 1 }, (_, i) => (i > marked || draws - i > rest ? 0 : Math.exp(logChance(i))));
}

/** P[X >= i], i = 0 .. draws + 1, summed from the small end. */
function tailsFrom(chances: readonly number[]): number[] {
  const tails = [...chances, 0];
  for (let i = chances.length - 1; i >= 0; i--) tails[i] = (chances[i] as number) + (tails[i + 1] as number);
  return tails;
}

const logFactorials: number[] = [0];

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

function logFactorial(n: number): number {
  for (let m = logFactorials.length; m <= n; m++) logFactorials.push((logFactorials[m - 1] as number) + Math.log(m));
  return logFactorials[n] as number;
}
