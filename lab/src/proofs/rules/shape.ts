/** A small task for the model of the rules: its parties, and every ticket and every closing that a server could make. */

export interface Shape {
  /** n and t. */
  readonly authorities: number;
  readonly threshold: number;
  /** Authorities on the server's side: they sign anything it asks for, and hand over everything they hold. */
  readonly colluding: number;
  /** K and Kmin. */
  readonly slots: number;
  readonly minimum: number;
  /** Honest users; as many as slots by default. */
  readonly users?: number;
  /** An enrolled user on the server's side. */
  readonly eve?: boolean;
  /** The server invents users. */
  readonly ghosts?: boolean;
}

/** The occupant of a slot: an honest user by its number, or one of these. */
export type Name = number;
export const EVE = -1;
/** A made-up user: its deposit is the server's own, and no authority enrolled it. */
const GHOST = -2;

/** The server's claim that this user has this slot after these others: view and user are the first slots of a list. */
export interface Ticket {
  readonly slot: number;
  readonly user: Name;
  readonly view: readonly Name[];
}

/** The subject of an authority's vote: the users in the slots up to the last accepted one, and which of them are accepted. */
interface Closing {
  readonly list: readonly Name[];
  readonly accepted: readonly number[];
}

export interface Tables {
  readonly shape: Shape;
  readonly users: number;
  /** Number 0 means that there is no ticket. */
  readonly tickets: readonly Ticket[];
  readonly closings: readonly Closing[];
  /** The ticket of a slot in a list: the number of its first `slot + 1` names. */
  ticketIn(list: readonly Name[], slot: number): number;
}

const NO_TICKET: Ticket = { slot: -1, user: GHOST, view: [] };
const NO_CLOSING: Closing = { list: [], accepted: [] };

export function tablesOf(shape: Shape, { isRepeatListed }: { readonly isRepeatListed: boolean }): Tables {
  const users = shape.users ?? shape.slots;
  const names = [
    ...Array.from({ length: users }, (_, n) => n),
    ...(shape.eve === true ? [EVE] : []),
    ...(shape.ghosts === true ? [GHOST] : []),
  ];
  const lists: (readonly Name[])[] = [];
  const extend = (list: readonly Name[]): void => {
    if (list.length > 0) lists.push(list);
    if (list.length === shape.slots) return;
    for (const name of names)
      if (name === GHOST || !list.includes(name) || (isRepeatListed && name === EVE)) extend([...list, name]);
  };
  extend([]);
  const numbers = new Map(lists.map((list, n) => [list.join(), n + 1]));
  const closings = lists.flatMap((list) =>
    subsetsOf(list.length)
      .filter((accepted) => accepted.at(-1) === list.length - 1)
      .map((accepted): Closing => ({ list, accepted })),
  );
  return {
    shape,
    users,
    tickets: [
      NO_TICKET,
      ...lists.map((list) => ({
        slot: list.length - 1,
        user: list.at(-1) as Name,
        view: list.slice(0, -1),
      })),
    ],
    closings: [NO_CLOSING, ...closings],
    ticketIn: (list, slot) => numbers.get(list.slice(0, slot + 1).join()) ?? 0,
  };
}

/** Every set of 0 .. count - 1, rising. */
function subsetsOf(count: number): readonly (readonly number[])[] {
  return Array.from({ length: 2 ** count }, (_, set) =>
    Array.from({ length: count }, (__, n) => n).filter((n) => (set >> n) & 1),
  );
}
