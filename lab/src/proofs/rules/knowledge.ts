/**
 * What a server can compute from uploads and the keys it holds: every combination of honest updates whose unknown masks cancel. An
 * upload of user u in slot l is x_u + self(u) - sum over i < l of seed(i -> l) + sum over j > l of seed(u -> j).
 */
import type { Name, Tables, Ticket } from './shape.ts';

export interface Held {
  /** By honest user: the ticket that it uploaded under, 0 where it did not. */
  readonly uploads: readonly number[];
  /** Registrations whose self keys, and slots whose edge keys the server can put together. */
  readonly self: ReadonlySet<number>;
  readonly edge: ReadonlySet<number>;
}

/** Coefficients by honest user, each -1, 0 or 1, the first that is not 0 is 1: all that come out. */
export function learned(
  { shape, tickets, users }: Tables,
  { uploads, self, edge }: Held,
): readonly (readonly number[])[] {
  /** A seed is known to its maker, to whoever holds the key of its slot, and through the backup of who subtracted it. */
  const isKnown = (maker: Name, makerSlot: number, slot: number): boolean =>
    maker < 0 ||
    edge.has(slot) ||
    (edge.has(makerSlot) &&
      uploads.some((number) => isAt(tickets[number], slot) && tickets[number]?.view[makerSlot] === maker));
  const masks = uploads.map((number) => {
    const found = new Map<string, number>();
    if (number === 0) return found;
    const { slot, user, view } = tickets[number] as Ticket;
    if (!self.has(number)) found.set(`self ${user}`, 1);
    for (const [i, maker] of view.entries()) if (!isKnown(maker, i, slot)) found.set(`${maker} to ${slot}`, -1);
    for (let j = slot + 1; j < shape.slots; j++) if (!isKnown(user, slot, j)) found.set(`${user} to ${j}`, 1);
    return found;
  });
  const names = [...new Set(masks.flatMap((found) => [...found.keys()]))];
  return combinationsOf(users).filter(
    (coefficients) =>
      coefficients.every((c, user) => c === 0 || uploads[user] !== 0) &&
      names.every((name) => coefficients.reduce((sum, c, user) => sum + c * (masks[user]?.get(name) ?? 0), 0) === 0),
  );
}

function isAt(ticket: Ticket | undefined, slot: number): boolean {
  return ticket !== undefined && ticket.slot === slot;
}

const known = new Map<number, readonly (readonly number[])[]>();

function combinationsOf(count: number): readonly (readonly number[])[] {
  const before = known.get(count);
  if (before !== undefined) return before;
  const all = Array.from({ length: 3 ** count }, (_, code) =>
    Array.from({ length: count }, (__, n) => (Math.floor(code / 3 ** n) % 3) - 1),
  ).filter((coefficients) => coefficients.find((c) => c !== 0) === 1);
  known.set(count, all);
  return all;
}
