/** The Dirichlet partition of the paper (appendix B.2) exactly as FedML makes it, from our own seeded draws. */
import { exp, ln } from '../numbers/exact-math.ts';
import { type RandomStream, randomStream } from '../numbers/random-stream.ts';
import { checkUsers, joinParts, type Labels, type Partition } from './partition.ts';

export interface DirichletRequest {
  readonly labels: Labels;
  readonly classes: number;
  readonly users: number;
  /** Small means unequal: 0.5 in the paper. */
  readonly alpha: number;
  readonly seed: number;
  /** Every user gets at least this many examples, or the whole partition is drawn again; FedML hard-codes 10. */
  readonly minimum?: number;
}

export interface DirichletPartition {
  readonly users: Partition;
  /** The number of draws until every user had enough. */
  readonly tries: number;
}

const MAX_TRIES = 1000;

export function partitionByDirichlet(request: DirichletRequest): DirichletPartition {
  const { labels, users, seed, minimum = 10 } = request;
  checkUsers(users * minimum, labels.length);
  const random = randomStream(seed, 'dirichlet');
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const parts = drawOnce(request, random);
    const shares = parts.map((slices) => joinParts(slices));
    if (shares.every(({ length }) => length >= minimum)) {
      return { users: shares.map((share) => random.shuffle(share)), tries };
    }
  }
  throw new RangeError(`no partition with ${minimum} examples for each of ${users} users in ${MAX_TRIES} tries`);
}

function drawOnce({ labels, classes, users, alpha }: DirichletRequest, random: RandomStream): Uint32Array[][] {
  const parts: Uint32Array[][] = Array.from({ length: users }, () => []);
  const sizes = new Float64Array(users);
  for (let label = 0; label < classes; label++) {
    const indices = random.shuffle(indicesOf(labels, label));
    const shares = Float64Array.from({ length: users }, () => gamma(alpha, random));
    // The balancing guard: a user that already has an average share gets nothing of this class.
    for (let user = 0; user < users; user++) {
      if ((sizes[user] as number) >= labels.length / users) shares[user] = 0;
    }
    const total = shares.reduce((sum, share) => sum + share, 0);
    let cumulated = 0;
    let from = 0;
    for (let user = 0; user < users; user++) {
      cumulated += (shares[user] as number) / total;
      const to = user === users - 1 ? indices.length : Math.min(indices.length, Math.floor(cumulated * indices.length));
      parts[user]?.push(indices.subarray(from, to));
      sizes[user] = (sizes[user] as number) + to - from;
      from = to;
    }
  }
  return parts;
}

function indicesOf(labels: Labels, label: number): Uint32Array {
  const indices: number[] = [];
  for (let index = 0; index < labels.length; index++) if (labels[index] === label) indices.push(index);
  return Uint32Array.from(indices);
}

/** Gamma(alpha, 1) by Marsaglia and Tsang (2000), with their boost for alpha < 1. */
export function gamma(alpha: number, random: RandomStream): number {
  if (!(alpha > 0)) throw new RangeError(`alpha must be positive, got ${alpha}`);
  if (alpha < 1) return gamma(alpha + 1, random) * exp(ln(1 - random.unit()) / alpha);
  const d = alpha - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = random.normal();
    const root = 1 + c * x;
    const v = root * root * root;
    if (v <= 0) continue;
    if (ln(1 - random.unit()) < 0.5 * x * x + d - d * v + d * ln(v)) return d * v;
  }
}
