// What is derived and never sent (docs/wire-format.md, the table of that name), and the Merkle tree of a deposit.
import { header, sha256, u16, zeros } from './bytes.mjs';

export const EDGE = 0;
export const SELF = 1;
export const BACKUP = 2;

export const joinTag = (ctx, user, nonce) => sha256(header(64), ctx, user, nonce);
const attribute = (ctx, role, slot, name) => sha256(header(65), ctx, Buffer.of(role), u16.write(slot), name);
export const edgeAttribute = (ctx, slot) => attribute(ctx, 1, slot, zeros(32));
export const selfAttribute = (ctx, r) => attribute(ctx, 2, 0, r);
const nextView = (view, slot, { g, D }) => sha256(header(66), view, u16.write(slot), g, D);
/** V_l over the deposits of slots 0..l-1. */
export const viewOver = (ctx, deposits) => deposits.reduce((view, one, slot) => nextView(view, slot, one), ctx);
export const sealedContext = (ctx, role, name, slot) =>
  Buffer.concat([header(67), ctx, Buffer.of(role), name, u16.write(slot)]);
export const commitment = (seed) => sha256(header(68), seed);
export const registration = ({ ctx, slot, g, D, view }) => sha256(header(71), ctx, u16.write(slot), g, D, view);

/** Leaf j-1 is the edge to slot j. */
export const leaf = (slot, { commitment: made, sealed }) => sha256(Buffer.of(0), u16.write(slot), made, sealed);
const node = (left, right) => sha256(Buffer.of(1), left, right);

export function merkleRoot(leaves) {
  let level = leaves;
  while (level.length > 1) {
    const above = [];
    for (let k = 0; k < level.length; k += 2)
      above.push(k + 1 < level.length ? node(level[k], level[k + 1]) : level[k]);
    level = above;
  }
  return level[0];
}

/** The root that a leaf and its siblings give, or undefined where their number is not the one of this place. */
export function rootFrom(one, index, count, siblings) {
  const rest = [...siblings];
  let hash = one;
  for (let at = index, width = count; width > 1; at >>= 1, width = (width + 1) >> 1) {
    if (at === width - 1 && at % 2 === 0) continue; // promoted
    const sibling = rest.shift();
    if (sibling === undefined) return undefined;
    hash = at % 2 === 0 ? node(hash, sibling) : node(sibling, hash);
  }
  return rest.length === 0 ? hash : undefined;
}
