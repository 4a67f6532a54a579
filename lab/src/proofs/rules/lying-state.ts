/** A state of the world with a lying server, and its name: users and authorities are identical except for their names. */
import type { Records } from './authority.ts';
import type { Tables } from './shape.ts';

/** An honest authority: its disk, and everything it ever signed; the same unless it answers before it writes. */
export interface Local {
  readonly records: Records;
  readonly receipts: readonly number[];
  readonly votes: readonly number[];
  readonly keys: readonly Records[];
  readonly saidAborted: boolean;
}

export interface LyingState {
  /** The number of honest authorities (the first ones) and of colluding authorities with a part. Undefined before the draw. */
  readonly parts: { readonly honest: number; readonly colluding: number } | undefined;
  /** By honest user: the ticket of its one key request. */
  readonly tickets: readonly number[];
  /** By honest user: the ticket under which it masked and uploaded. */
  readonly uploads: readonly number[];
  readonly locals: readonly Local[];
}

export interface Renaming {
  readonly users: readonly number[];
  readonly tickets: readonly number[];
  readonly closings: readonly number[];
}

/** One for each order of the users. */
export function renamingsOf({ users, tickets, closings, ticketIn }: Tables): readonly Renaming[] {
  const listNumbers = new Map(closings.map(({ list, accepted }, n) => [`${list.join()}|${accepted.join()}`, n]));
  return permutationsOf(users).map((renamed) => {
    const name = (one: number): number => (one < 0 ? one : (renamed[one] as number));
    return {
      users: renamed,
      tickets: tickets.map(({ slot, user, view }, n) => (n === 0 ? 0 : ticketIn([...view, user].map(name), slot))),
      closings: closings.map(
        ({ list, accepted }) => listNumbers.get(`${list.map(name).join()}|${accepted.join()}`) ?? 0,
      ),
    };
  });
}

function permutationsOf(count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  return permutationsOf(count - 1).flatMap((shorter) =>
    Array.from({ length: count }, (_, at) => [...shorter.slice(0, at), count - 1, ...shorter.slice(at)]),
  );
}

export function nameUnder(
  { users, tickets, closings }: Renaming,
  { parts, tickets: own, uploads, locals }: LyingState,
): string {
  const [held, sent]: [number[], number[]] = [[], []];
  for (const [user, renamed] of users.entries()) {
    held[renamed] = tickets[own[user] as number] as number;
    sent[renamed] = tickets[uploads[user] as number] as number;
  }
  const nameOf = (local: Local): string => {
    const { slots, vote, closed, isAborted } = local.records;
    const numbers = (all: readonly number[], table: readonly number[]) => all.map((n) => table[n] as number);
    const said = [
      numbers(local.receipts, tickets).sort(byNumber).join(),
      numbers(local.votes, closings).sort(byNumber).join(),
      numbers(
        local.keys.map((records) => records.closed),
        closings,
      )
        .sort(byNumber)
        .join(),
    ];
    return `${numbers(slots, tickets).join()}/${closings[vote]}/${closings[closed]}/${isAborted}/${said.join('/')}/${local.saidAborted}`;
  };
  const inside = parts?.honest ?? 0;
  const names = locals.map(nameOf);
  const sorted = [...names.slice(0, inside).sort(), ...names.slice(inside)];
  return `${parts?.honest}${parts?.colluding}|${held.join()}|${sent.join()}|${sorted.join(';')}`;
}

export function byNumber(a: number, b: number): number {
  return a - b;
}
