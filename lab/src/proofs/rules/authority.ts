/** The rules of one authority, without bytes: registrations, votes, closes, aborts and signatures. Each rule can be left out. */
import type { Tables, Ticket } from './shape.ts';

/** A rule of the protocol that a broken model lacks. */
export type Rule =
  | 'a slot is registered once'
  | 'a user has one slot'
  | 'the list of earlier slots agrees with the registrations'
  | 'the view is computed from the list'
  | 'at least Kmin slots are accepted'
  | 'no user is listed twice'
  | 'each accepted slot has receipts of t authorities'
  | 'an authority does not act against its own record'
  | 'an authority votes once for a buffer'
  | 'keys are released only after t votes'
  | 'the self key or the edge key of a slot is released, never both'
  | 'an authority that voted does not abort'
  | 'records are durable before the answer'
  | 'a user signs one key request in a buffer'
  | 'an outcome needs t signatures';

/** The records of one authority about the buffer: numbers of tickets and closings, or 0 if there is none. */
export interface Records {
  /** By slot: the registration. */
  readonly slots: readonly number[];
  readonly vote: number;
  readonly closed: number;
  readonly isAborted: boolean;
}

export interface Rules {
  readonly tables: Tables;
  readonly missing: Rule | undefined;
}

export function emptyRecords({ tables }: Rules): Records {
  return { slots: Array.from({ length: tables.shape.slots }, () => 0), vote: 0, closed: 0, isAborted: false };
}

function isDecided({ vote, closed, isAborted }: Records): boolean {
  return vote > 0 || closed > 0 || isAborted;
}

/** Returns the records after a key request, or undefined if it is refused. */
export function registered({ tables, missing }: Rules, records: Records, number: number): Records | undefined {
  const { slot, user, view } = tables.tickets[number] as Ticket;
  if (isDecided(records)) return undefined;
  if (records.slots[slot] !== 0 && missing !== 'a slot is registered once') return undefined;
  const isSecond = records.slots.some((other) => other !== 0 && tables.tickets[other]?.user === user);
  if (isSecond && missing !== 'a user has one slot') return undefined;
  const isContradicted = view.some((_, i) => records.slots[i] !== 0 && records.slots[i] !== tables.ticketIn(view, i));
  if (isContradicted && missing !== 'the list of earlier slots agrees with the registrations') return undefined;
  return { ...records, slots: records.slots.map((old, n) => (n === slot ? number : old)) };
}

/** The statements of the rest of the council about a ticket, and the actions of its user. */
export interface Hearsay {
  /** The number of receipts from other authorities. */
  receipts(ticket: number): number;
  /** True if the user signed the header of an upload under this ticket, or under another one of the same slot. */
  hasHeader(ticket: number): boolean;
  hasHeaderOfSlot(ticket: number): boolean;
}

/** True if it votes for this closing. */
export function votesFor(rules: Rules, records: Records, number: number, hearsay: Hearsay): boolean {
  const { tables, missing } = rules;
  const { list, accepted } = tables.closings[number] as (typeof tables.closings)[number];
  if (records.closed > 0 || records.isAborted) return false;
  if (records.vote > 0 && missing !== 'an authority votes once for a buffer') return false;
  if (accepted.length < tables.shape.minimum && missing !== 'at least Kmin slots are accepted') return false;
  return accepted.every((slot) => {
    const ticket = tables.ticketIn(list, slot);
    const own = records.slots[slot] as number;
    const isOwn =
      own === ticket || (missing === 'the view is computed from the list' && isSameUser(tables, own, ticket));
    const isLoose = missing === 'the view is computed from the list';
    const hasHeader = isLoose ? hearsay.hasHeaderOfSlot(ticket) : hearsay.hasHeader(ticket);
    if (!hasHeader) return false;
    if (own !== 0 && !isOwn && missing !== 'an authority does not act against its own record') return false;
    const receipts = hearsay.receipts(ticket) + (own !== 0 && isOwn ? 1 : 0);
    return (
      receipts >= tables.shape.threshold || missing === 'each accepted slot has receipts of t authorities' || isLoose
    );
  });
}

function isSameUser({ tickets }: Tables, a: number, b: number): boolean {
  return a !== 0 && tickets[a]?.user === tickets[b]?.user && tickets[a]?.slot === tickets[b]?.slot;
}

export interface Released {
  /** The registrations whose self key it releases, and the slots whose edge key it releases. */
  readonly self: readonly number[];
  readonly edge: readonly number[];
}

const NOTHING: Released = { self: [], edge: [] };

/** The keys that a closed buffer releases. */
export function keysOf({ tables, missing }: Rules, { slots, closed }: Records): Released {
  if (closed === 0) return NOTHING;
  const { list, accepted } = tables.closings[closed] as (typeof tables.closings)[number];
  const isWithheld = (slot: number): boolean => {
    const own = slots[slot] as number;
    const isOther = own !== 0 && slot < list.length && own !== tables.ticketIn(list, slot);
    const isExcused =
      missing === 'an authority does not act against its own record' ||
      missing === 'the view is computed from the list';
    return isOther && !isExcused;
  };
  const given = slots.map((_, slot) => slot).filter((slot) => !isWithheld(slot));
  const isAccepted = (slot: number): boolean => accepted.includes(slot);
  return {
    self: given.filter(isAccepted).map((slot) => {
      const ticket = tables.ticketIn(list, slot);
      return isSameUser(tables, slots[slot] as number, ticket) ? (slots[slot] as number) : ticket;
    }),
    edge: given.filter(
      (slot) => !isAccepted(slot) || missing === 'the self key or the edge key of a slot is released, never both',
    ),
  };
}

/** Past its time, if it has not voted. */
export function mayAbort({ missing }: Rules, records: Records): boolean {
  if (records.closed > 0 || records.isAborted) return false;
  return records.vote === 0 || missing === 'an authority that voted does not abort';
}

/** Its signature on a close: its own vote, or the close it accepted by the votes of others. */
export function voteOf({ vote, closed }: Records): number {
  return vote > 0 ? vote : closed;
}
