/**
 * Merkle trees over the sealed seeds of a deposit: leaf prefix 00, node prefix 01, an odd node is promoted. A verifier fixes index and
 * count, so that a leaf is not valid at another position.
 */
import { equalBytes, type Suite } from '@basa/masking';

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** A sealed seed with the commitment to it. `label` is the slot it is sealed to. */
export interface Leaf {
  readonly label: number;
  readonly commitment: Uint8Array;
  readonly sealed: Uint8Array;
}

export function leafHash(suite: Suite, { label, commitment, sealed }: Leaf): Uint8Array {
  return suite.sha256(LEAF, Uint8Array.of(label & 0xff, label >> 8), commitment, sealed);
}

/** Every level of the tree, from the leaves to the root. */
export function merkleLevels(suite: Suite, hashes: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] {
  const levels = [hashes];
  for (let level = hashes; level.length > 1; ) {
    level = parents(suite, level);
    levels.push(level);
  }
  return levels;
}

export function merkleRoot(suite: Suite, hashes: readonly Uint8Array[]): Uint8Array {
  return merkleLevels(suite, hashes).at(-1)?.[0] as Uint8Array;
}

/** The siblings from the leaf upwards; none if the node is promoted. */
export function merklePath(levels: readonly (readonly Uint8Array[])[], index: number): readonly Uint8Array[] {
  return levels.slice(0, -1).flatMap((level, height) => level[(index >> height) ^ 1] ?? []);
}

/** True if `hash` is leaf number `index` of `count` under the root. */
export function isInTree(
  suite: Suite,
  root: Uint8Array,
  claim: {
    readonly hash: Uint8Array;
    readonly index: number;
    readonly count: number;
    readonly path: readonly Uint8Array[];
  },
): boolean {
  let node = claim.hash;
  let used = 0;
  for (let at = claim.index, width = claim.count; width > 1; at >>= 1, width = (width + 1) >> 1) {
    if ((at ^ 1) >= width) continue;
    const sibling = claim.path[used++];
    if (sibling === undefined) return false;
    node = at % 2 === 0 ? suite.sha256(NODE, node, sibling) : suite.sha256(NODE, sibling, node);
  }
  return used === claim.path.length && equalBytes(node, root);
}

function parents(suite: Suite, level: readonly Uint8Array[]): readonly Uint8Array[] {
  const next: Uint8Array[] = [];
  for (let i = 0; i < level.length; i += 2) {
    const [left, right] = [level[i] as Uint8Array, level[i + 1]];
    next.push(right === undefined ? left : suite.sha256(NODE, left, right));
  }
  return next;
}
