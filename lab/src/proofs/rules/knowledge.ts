/**
 * The knowledge of a server from uploads and the keys it holds: every combination of honest updates whose unknown masks
 * cancel. An upload of user u in slot l is x_u + self(u) - sum over i < l of seed(i -> l) + sum over j > l of seed(u ->
 * j).
 */

import { type Combination, learnedCombinations } from '../../attacks/solve.ts';
import { Interner } from '../explorer/interner.ts';
import type { Name, Tables, Ticket } from './shape.ts';

export interface Held {
  /** By honest user: the ticket under which it uploaded, or 0. */
  readonly uploads: readonly number[];
  /** The registrations whose self keys, and the slots whose edge keys the server can reconstruct. */
  readonly self: ReadonlySet<number>;
  readonly edge: ReadonlySet<number>;
}

/** Combinations of updates, by honest user. */
export function learned({ shape, tickets }: Tables, { uploads, self, edge }: Held): readonly Combination[] {
  /** A seed is known to its maker, to the holder of the key of its slot, and through the backup of the user that subtracted it. */
  const isKnown = (maker: Name, makerSlot: number, slot: number): boolean =>
    maker < 0 ||
    edge.has(slot) ||
    (edge.has(makerSlot) &&
      uploads.some((number) => isAt(tickets[number], slot) && tickets[number]?.view[makerSlot] === maker));
  const symbols = new Interner<string>();
  const symbolOf = (name: string): number => symbols.number(name, name);
  const rows = uploads.flatMap((number, honest) => {
    if (number === 0) return [];
    const masks = new Map<number, number>();
    const { slot, user, view } = tickets[number] as Ticket;
    if (!self.has(number)) masks.set(symbolOf(`self ${user}`), 1);
    for (const [i, maker] of view.entries())
      if (!isKnown(maker, i, slot)) masks.set(symbolOf(`${maker} to ${slot}`), -1);
    for (let j = slot + 1; j < shape.slots; j++) if (!isKnown(user, slot, j)) masks.set(symbolOf(`${user} to ${j}`), 1);
    return [{ inputs: new Map([[honest, 1]]), masks }];
  });
  return learnedCombinations(rows);
}

function isAt(ticket: Ticket | undefined, slot: number): boolean {
  return ticket !== undefined && ticket.slot === slot;
}
