/**
 * A buffer from its draw to its end, with a lying server and colluding authorities. The server may show each party different messages,
 * withhold or repeat them, and invent users. A signature is never withdrawn, so messages need no separate state.
 */
import type { Space } from '../explorer/walk.ts';
import {
  emptyRecords,
  type Hearsay,
  keysOf,
  mayAbort,
  type Records,
  type Rule,
  type Rules,
  registered,
  voteOf,
  votesFor,
} from './authority.ts';
import { byNumber, type Local, type LyingState, nameUnder, type Renaming, renamingsOf } from './lying-state.ts';
import { EVE, type Name, type Shape, type Tables, tablesOf } from './shape.ts';

export interface LyingOptions extends Shape {
  readonly missing?: Rule | undefined;
}

type Found = (readonly [LyingState, string])[];

export class LyingServer implements Space<LyingState> {
  readonly rules: Rules;
  readonly #tables: Tables;
  readonly #problemOf: (world: LyingServer, state: LyingState) => string | undefined;
  readonly #renamings: readonly Renaming[];

  constructor(options: LyingOptions, problemOf: (world: LyingServer, state: LyingState) => string | undefined) {
    const { missing, ...shape } = options;
    this.#tables = tablesOf(shape, { isRepeatListed: missing === 'no user is listed twice' });
    this.rules = { tables: this.#tables, missing };
    this.#problemOf = problemOf;
    this.#renamings = renamingsOf(this.#tables);
  }

  start(): LyingState {
    const { authorities, colluding } = this.#tables.shape;
    const none = Array.from({ length: this.#tables.users }, () => 0);
    const local = (): Local => ({
      records: emptyRecords(this.rules),
      receipts: [],
      votes: [],
      keys: [],
      saidAborted: false,
    });
    return {
      parts: undefined,
      tickets: none,
      uploads: none,
      locals: Array.from({ length: authorities - colluding }, local),
    };
  }

  successors(state: LyingState): Found {
    const found: Found = [];
    if (state.parts === undefined) this.#draws(state, found);
    else {
      this.#users(state, found);
      const closings = this.#closingsToVoteFor(state);
      for (let n = 0; n < state.parts.honest; n++) this.#authority(state, n, closings, found);
    }
    return found;
  }

  problemOf(state: LyingState): string | undefined {
    return this.#problemOf(this, state);
  }

  /** With a lying server every end is allowed. */
  terminalProblem(): undefined {
    return undefined;
  }

  /** Users and authorities are identical except for their names. */
  nameOf(state: LyingState): string {
    return this.#renamings
      .map((renaming) => nameUnder(renaming, state))
      .reduce((least, one) => (one < least ? one : least));
  }

  /** The number of authorities, colluding ones included, that registered this ticket. */
  receipts({ locals }: LyingState, ticket: number): number {
    return this.#tables.shape.colluding + locals.filter((local) => local.receipts.includes(ticket)).length;
  }

  /** The number of authorities that registered this user for this slot, under any view. */
  registrations({ locals }: LyingState, slot: number, user: Name): number {
    const { tickets, shape } = this.#tables;
    const isIt = (number: number): boolean => tickets[number]?.slot === slot && tickets[number]?.user === user;
    return shape.colluding + locals.filter(({ receipts }) => receipts.some(isIt)).length;
  }

  votes({ locals }: LyingState, closing: number): number {
    return this.#tables.shape.colluding + locals.filter(({ votes }) => votes.includes(closing)).length;
  }

  #draws(state: LyingState, found: Found): void {
    const { threshold, colluding } = this.#tables.shape;
    for (let honest = 0; honest <= state.locals.length; honest++)
      for (let with_ = 0; with_ <= colluding; with_++)
        if (honest + with_ >= threshold)
          found.push([
            { ...state, parts: { honest, colluding: with_ } },
            `a buffer is drawn with parts of ${honest} honest and ${with_} colluding authorities`,
          ]);
  }

  #users(state: LyingState, found: Found): void {
    const { tickets } = this.#tables;
    const { threshold } = this.#tables.shape;
    const isAgain = this.rules.missing === 'a user signs one key request in a buffer';
    for (const [user, own] of state.tickets.entries()) {
      if (own === 0 || (isAgain && state.uploads[user] === 0))
        for (const [number, ticket] of tickets.entries())
          if (number > 0 && ticket.user === user && number !== own)
            found.push([
              { ...state, tickets: replaced(state.tickets, user, number) },
              `user ${user} is told that it has slot ${ticket.slot}, after ${ticket.view.map(wordOf).join(', ') || 'no other user'}`,
            ]);
      if (own !== 0 && state.uploads[user] === 0 && this.#answers(state, own) >= threshold)
        found.push([{ ...state, uploads: replaced(state.uploads, user, own) }, `user ${user} uploads`]);
    }
  }

  /** Authorities of the buffer that gave their key for this ticket. */
  #answers({ locals, parts }: LyingState, ticket: number): number {
    const honest = locals.filter((local, n) => n < (parts?.honest ?? 0) && local.receipts.includes(ticket)).length;
    return honest + (parts?.colluding ?? 0);
  }

  #authority(state: LyingState, n: number, closings: readonly number[], found: Found): void {
    const { tickets } = this.#tables;
    const local = state.locals[n] as Local;
    const { records } = local;
    const isForgetful = this.rules.missing === 'records are durable before the answer';
    const add = (after: Partial<Local> & { readonly records: Records }, words: string): void => {
      const next = (one: Local): LyingState => ({ ...state, locals: replaced(state.locals, n, one) });
      found.push([next({ ...local, ...after }), words]);
      if (isForgetful) found.push([next({ ...local, ...after, records }), `${words}, and forgets it`]);
    };
    for (const [number, { user, slot }] of tickets.entries()) {
      const isAsked = number > 0 && (user === EVE || (user >= 0 && state.tickets[user] === number));
      const after = isAsked && !local.receipts.includes(number) ? registered(this.rules, records, number) : undefined;
      if (after !== undefined)
        add(
          { records: after, receipts: [...local.receipts, number].sort(byNumber) },
          `authority ${n} registers ${wordOf(user)} for slot ${slot}`,
        );
    }
    const hearsay = {
      ...this.#headers(state),
      receipts: (ticket: number) => this.receipts(state, ticket) - (local.receipts.includes(ticket) ? 1 : 0),
    };
    for (const number of closings)
      if (!local.votes.includes(number) && votesFor(this.rules, records, number, hearsay))
        add(
          { records: { ...records, vote: number }, votes: [...local.votes, number].sort(byNumber) },
          `authority ${n} votes for ${this.#wordsOf(number)}`,
        );
    if (records.closed === 0 && !records.isAborted)
      for (const number of this.#decidedFor(state, records)) {
        const closed = { ...records, closed: number };
        const votes = local.votes.length > 0 ? local.votes : [number];
        add(
          { records: closed, votes, keys: [...local.keys, closed] },
          `authority ${n} closes with ${this.#wordsOf(number)}`,
        );
      }
    if (mayAbort(this.rules, records))
      add({ records: { ...records, isAborted: true }, saidAborted: true }, `authority ${n} aborts: its time is over`);
  }

  /** The closings with as many votes as are needed. */
  certified(state: LyingState): readonly number[] {
    const voted = new Set(state.locals.flatMap(({ votes }) => votes));
    return [...voted].filter((number) => this.votes(state, number) >= this.#tables.shape.threshold);
  }

  #decidedFor(state: LyingState, records: Records): readonly number[] {
    const own = voteOf(records);
    const isAlone = this.rules.missing === 'keys are released only after t votes' && own > 0;
    return isAlone ? [own] : this.certified(state);
  }

  /** The closings whose accepted users all signed a header: an authority requires more. */
  #closingsToVoteFor(state: LyingState): readonly number[] {
    const { hasHeader, hasHeaderOfSlot } = this.#headers(state);
    const { closings, ticketIn } = this.#tables;
    const isGood = this.rules.missing === 'the view is computed from the list' ? hasHeaderOfSlot : hasHeader;
    return [...closings.keys()].filter((number) => {
      const { list, accepted } = closings[number] as Tables['closings'][number];
      return number > 0 && accepted.every((slot) => isGood(ticketIn(list, slot)));
    });
  }

  #headers({ uploads }: LyingState): Pick<Hearsay, 'hasHeader' | 'hasHeaderOfSlot'> {
    const { tickets } = this.#tables;
    const uploaded = (ticket: number): number => uploads[tickets[ticket]?.user ?? -1] ?? 0;
    const isEves = (ticket: number): boolean => tickets[ticket]?.user === EVE;
    return {
      hasHeader: (ticket) => isEves(ticket) || uploaded(ticket) === ticket,
      hasHeaderOfSlot: (ticket) =>
        isEves(ticket) || (uploaded(ticket) > 0 && tickets[uploaded(ticket)]?.slot === tickets[ticket]?.slot),
    };
  }

  #wordsOf(number: number): string {
    const { list, accepted } = this.#tables.closings[number] as Tables['closings'][number];
    return `slots ${accepted.join(', ')} of ${list.map(wordOf).join(', ')}`;
  }

  /** The registrations and slots whose keys the server can reconstruct from shares. */
  openKeys({ locals, parts }: LyingState): { readonly self: ReadonlySet<number>; readonly edge: ReadonlySet<number> } {
    const { shape, tickets } = this.#tables;
    const shares = (has: (local: Local, n: number) => boolean): boolean =>
      locals.filter((local, n) => n < (parts?.honest ?? 0) && has(local, n)).length + (parts?.colluding ?? 0) >=
      shape.threshold;
    const given = locals.map(({ keys }) => keys.map((records) => keysOf(this.rules, records)));
    const isEves = (local: Local, slot: number): boolean =>
      local.receipts.some((number) => tickets[number]?.user === EVE && tickets[number]?.slot === slot);
    const slots = Array.from({ length: shape.slots }, (_, slot) => slot);
    const released = new Set(given.flatMap((all) => all.flatMap(({ self }) => self)));
    return {
      self: new Set(
        [...released].filter((number) =>
          shares((_, n) => given[n]?.some(({ self }) => self.includes(number)) === true),
        ),
      ),
      edge: new Set(
        slots.filter((slot) =>
          shares((local, n) => isEves(local, slot) || given[n]?.some(({ edge }) => edge.includes(slot)) === true),
        ),
      ),
    };
  }
}

/** Returns the list with another value at one place. */
function replaced<Item>(items: readonly Item[], at: number, item: Item): readonly Item[] {
  return items.map((old, n) => (n === at ? item : old));
}

function wordOf(name: number): string {
  return name === EVE ? 'Eve' : name < 0 ? 'nobody real' : `user ${name}`;
}
