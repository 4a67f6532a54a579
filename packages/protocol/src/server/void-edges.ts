/** Chooses the slots to leave out if edges are void: a minimum vertex cover of the void edges. */

export type VoidEdge = readonly [number, number];

/** Beyond this many slots in the cover the search is replaced by the greedy choice: only mass sabotage gets there. */
const EXACT_UP_TO = 12;

/** Returns the smallest set of slots that touches every void edge; the later slot if two are equally good. */
export function slotsToLeaveOut(edges: readonly VoidEdge[]): readonly number[] {
  for (let size = 0; size <= EXACT_UP_TO; size++) {
    const cover = coverOfSize(edges, size);
    if (cover !== undefined) return cover;
  }
  return greedyCover(edges);
}

/** Branches on the busiest slot: either it is in the cover, or all its neighbours are. */
function coverOfSize(edges: readonly VoidEdge[], size: number): readonly number[] | undefined {
  if (edges.length === 0) return [];
  if (size === 0) return undefined;
  const busiest = busiestSlot(edges);
  // `size` slots of at most this degree cannot touch this many edges.
  if (edges.length > size * edges.filter((edge) => edge.includes(busiest)).length) return undefined;
  const withIt = coverOfSize(without(edges, [busiest]), size - 1);
  if (withIt !== undefined) return [busiest, ...withIt];
  const neighbours = neighboursOf(edges, busiest);
  if (neighbours.length > size) return undefined;
  const rest = coverOfSize(without(edges, neighbours), size - neighbours.length);
  return rest === undefined ? undefined : [...neighbours, ...rest];
}

function greedyCover(edges: readonly VoidEdge[]): readonly number[] {
  const cover: number[] = [];
  for (let left = edges; left.length > 0; ) {
    const busiest = busiestSlot(left);
    cover.push(busiest);
    left = without(left, [busiest]);
  }
  return cover;
}

function busiestSlot(edges: readonly VoidEdge[]): number {
  const degree = new Map<number, number>();
  for (const slot of edges.flat()) degree.set(slot, (degree.get(slot) ?? 0) + 1);
  const [first = [0, 0]] = [...degree].sort(([slotA, a], [slotB, b]) => b - a || slotB - slotA);
  return first[0] as number;
}

function neighboursOf(edges: readonly VoidEdge[], slot: number): readonly number[] {
  return [...new Set(edges.flatMap(([a, b]) => (a === slot ? [b] : b === slot ? [a] : [])))];
}

function without(edges: readonly VoidEdge[], slots: readonly number[]): readonly VoidEdge[] {
  return edges.filter(([a, b]) => !slots.includes(a) && !slots.includes(b));
}
