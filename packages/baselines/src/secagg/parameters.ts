/** The parameters that all users and the server of one SecAgg round agree on, and the graph of users that mask together. */
import type { Modulus, RandomBytes } from '@basa/masking';
import type { Phase } from '../aggregation.ts';

export interface Graph {
  /** In ascending order, without the user itself. */
  neighboursOf(user: number): readonly number[];
}

export type GraphChoice = { readonly kind: 'complete' } | { readonly kind: 'harary'; readonly degree: number };

/** Draws the graph over these users; a degree that no regular graph of this size has gives the complete graph. */
export function drawGraph(users: readonly number[], choice: GraphChoice, randomBytes: RandomBytes): Graph {
  if (choice.kind === 'harary' && hasRegularGraph(users.length, choice.degree)) {
    return hararyGraph(shuffled(users, randomBytes), choice.degree);
  }
  return { neighboursOf: (user) => users.filter((other) => other !== user) };
}

/** A k-regular graph on n nodes exists when k < n and the ends of its edges, n k, are even in number. */
function hasRegularGraph(nodes: number, degree: number): boolean {
  return degree >= 1 && degree < nodes && (nodes * degree) % 2 === 0;
}

/** H(k, n): each node of a ring is joined to its floor(k/2) nearest on both sides, and for odd k to the one opposite. */
function hararyGraph(ring: readonly number[], degree: number): Graph {
  const places = new Map(ring.map((user, place) => [user, place]));
  const steps = Array.from({ length: Math.floor(degree / 2) }, (_, n) => n + 1).flatMap((step) => [step, -step]);
  if (degree % 2 === 1) steps.push(ring.length / 2);
  return {
    neighboursOf(user) {
      const place = places.get(user);
      if (place === undefined) throw new RangeError(`user ${user} is not on the ring`);
      const neighbours = steps.map((step) => ring[(place + step + ring.length) % ring.length] as number);
      return neighbours.sort((a, b) => a - b);
    },
  };
}

/** A uniformly random order (Fisher and Yates). */
function shuffled(users: readonly number[], randomBytes: RandomBytes): number[] {
  const order = [...users];
  for (let n = order.length - 1; n > 0; n--) {
    const other = uniformBelow(n + 1, randomBytes);
    [order[n], order[other]] = [order[other] as number, order[n] as number];
  }
  return order;
}

/** Words beyond the last whole multiple of the limit are drawn again. */
function uniformBelow(limit: number, randomBytes: RandomBytes): number {
  for (;;) {
    const drawn = randomBytes(4);
    const word = new DataView(drawn.buffer, drawn.byteOffset, 4).getUint32(0, true);
    if (word < 2 ** 32 - (2 ** 32 % limit)) return word % limit;
  }
}

// The number of neighbours SecAgg+ needs, and how many of them open a secret: the exact rule of Bell et al. 2020.

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

export const SECAGG_PHASES: readonly Phase[] = [
  { name: 'keys', user: 'draws two key pairs', server: 'draws the graph and tells each user its peers' },
  { name: 'shares', user: 'agrees with each peer; shares and seals its secrets', server: 'routes the sealed shares' },
  { name: 'masked-input', user: 'agrees on a mask with each peer; expands and adds them', server: 'adds y' },
  { name: 'unmasking', user: 'opens the shares it holds', server: 'reconstructs, expands and subtracts' },
];

export interface SecAggParameters {
  /** 32 bytes that no other round has: salt of every mask and of every sealed share. */
  readonly session: Uint8Array;
  readonly modulus: Modulus;
  readonly graph: GraphChoice;
  /** t: the number of holders that open a secret; fewer learn nothing. */
  readonly threshold: number;
}

/** t = floor(2n/3) + 1: against a server that works with up to a third of the users. */
export function defaultThreshold(users: number): number {
  return Math.floor((2 * users) / 3) + 1;
}

/** SecAgg: every user is a neighbour of every other. */
export function secAggParameters(users: number, base: Pick<SecAggParameters, 'session' | 'modulus'>): SecAggParameters {
  return { ...base, graph: { kind: 'complete' }, threshold: defaultThreshold(users) };
}

/** SecAgg+: the smallest neighbourhood within the accepted risk, or SecAgg if there is none. */
export function secAggPlusParameters(
  users: number,
  risk: Risk,
  base: Pick<SecAggParameters, 'session' | 'modulus'>,
): SecAggParameters {
  const chosen = chooseNeighbourhood(users, risk);
  if (chosen === undefined) return secAggParameters(users, base);
  return { ...base, graph: { kind: 'harary', degree: chosen.degree }, threshold: chosen.threshold };
}

/** In SecAgg a user holds a share of itself too; among neighbours it does not (Bell et al. 2020, algorithm 2). */
export function holdsOwnShare({ graph }: SecAggParameters): boolean {
  return graph.kind === 'complete';
}

/** s_uv is added by the user with the smaller number and subtracted by the other. */
export function maskSign(user: number, peer: number): 1 | -1 {
  return user < peer ? 1 : -1;
}

/** The point at which a user's polynomial is evaluated for this holder; never 0, because the value there is the secret. */
export function sharePoint(user: number): number {
  return user + 1;
}
