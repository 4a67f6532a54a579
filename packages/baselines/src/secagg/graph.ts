/** The graph of users that mask together and hold each other's shares: complete (SecAgg), or neighbours on a ring (SecAgg+). */
import type { RandomBytes } from '@basa/masking';

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
export function hasRegularGraph(nodes: number, degree: number): boolean {
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
