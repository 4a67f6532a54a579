/**
 * The states that users, server and authorities can be in together, and the steps between them. A state is a few numbers:
 * those of the parties' local states, the hours of their clocks, and the set of messages that were ever sent.
 */
import type { AuthorityBuffer, Millis, SecureBuffer } from '@basa/protocol';
import { type AuthorityLocal, AuthorityParty } from './authority-party.ts';
import { canonical } from './canonical.ts';
import { type ExploredWorld, exploredWorld, type WorldOptions } from './explored-world.ts';
import { Interner } from './interner.ts';
import { MAX_MESSAGES, MessageSets } from './message-sets.ts';
import type { Ending, Message } from './messages.ts';
import { remembered } from './remembered.ts';
import type { ServerLocal } from './server-disk.ts';
import { ServerParty } from './server-party.ts';
import { type UserLocal, UserParty } from './user-party.ts';

/** Numbers of local states, the hours of the clocks, and the number of the set of messages. */
export interface State {
  readonly users: readonly number[];
  readonly server: number;
  readonly authorities: readonly number[];
  readonly serverHour: number;
  readonly authorityHours: readonly number[];
  readonly sent: number;
}

interface Move {
  readonly local: number;
  readonly sent: readonly number[];
  readonly words: string;
}

type Moves = readonly Move[];

/** The number of an authority's local state before it wrote anything. */
const UNTOUCHED = 0;

/** The local states of one party, with its moves in each of them. */
class Locals<Local> extends Interner<Local> {
  /** By state, hour and at most one message. */
  readonly moves = new Map<number, Moves>();
  /** By state, hour and several messages. */
  readonly heard = new Map<string, Moves>();
}

export class StateSpace {
  readonly world: ExploredWorld;
  readonly #parties: { users: readonly UserParty[]; server: ServerParty; authorities: readonly AuthorityParty[] };
  readonly #users: readonly Locals<UserLocal>[];
  readonly #servers = new Locals<ServerLocal>();
  readonly #authorities: readonly Locals<AuthorityLocal>[];
  readonly #messages: MessageSets;
  readonly #serverBuffers = new Map<number, readonly SecureBuffer[]>();
  readonly #authorityBuffers: readonly Map<number, readonly AuthorityBuffer[]>[];

  constructor(options: WorldOptions) {
    this.world = exploredWorld(options);
    const { users, genesis, federation } = this.world;
    this.#messages = new MessageSets(federation.policy.threshold);
    this.#parties = {
      users: users.map((_, n) => new UserParty(this.world, n)),
      server: new ServerParty(this.world),
      authorities: genesis.map((_, n) => new AuthorityParty(this.world, n)),
    };
    this.#users = users.map(() => new Locals<UserLocal>());
    this.#authorities = genesis.map(() => new Locals<AuthorityLocal>());
    this.#authorityBuffers = genesis.map(() => new Map());
  }

  /** The number of distinct states of one party, and of distinct messages. */
  get sizes(): { readonly local: number; readonly messages: number } {
    const parties = [this.#servers, ...this.#users, ...this.#authorities];
    return { local: parties.reduce((sum, { size }) => sum + size, 0), messages: this.#messages.size };
  }

  serverLocal({ server }: State): ServerLocal {
    return this.#servers.value(server);
  }

  userLocal({ users }: State, n: number): UserLocal {
    return (this.#users[n] as Locals<UserLocal>).value(users[n] as number);
  }

  /** Everything that was ever sent. */
  messagesOf({ sent }: State): readonly Message[] {
    return this.#named(this.#messages.numbers(sent));
  }

  /** Returns a contradiction among the messages of a state, if any. */
  messagesProblem({ sent }: State): string | undefined {
    return this.#messages.problem(sent);
  }

  start(): State {
    const { users, server, authorities } = this.#parties;
    const said = server.said();
    const begun = users.map((party) => party.initial());
    const sent = [...begun.flatMap((ending) => ending.sent), ...said].map((message) => this.#messages.number(message));
    return {
      users: begun.map(({ local }, n) => this.#userNumber(n, local)),
      server: this.#serverNumber(server.initial()),
      authorities: authorities.map((party, n) => this.#authorityNumber(n, party.initial())),
      serverHour: 0,
      authorityHours: authorities.map(() => 0),
      sent: sent.reduce((set, message) => this.#messages.union(set, message), this.#messages.empty),
    };
  }

  /** Returns every state one step further, each with a description of the step. */
  successors(state: State): readonly (readonly [State, string])[] {
    const found: (readonly [State, string])[] = [];
    /** A move that neither changes its party nor sends anything new leads nowhere. */
    const add = (isChange: boolean, { sent, words }: Move, change: () => Partial<State>): void => {
      let set = state.sent;
      for (const message of sent) set = this.#messages.union(set, message);
      if (isChange || set !== state.sent) found.push([{ ...state, ...change(), sent: set }, words]);
    };
    const { users, server, authorities, serverHour, authorityHours } = state;
    const withUser = (n: number, moves: Moves): void => {
      for (const move of moves) add(move.local !== users[n], move, () => ({ users: replaced(users, n, move.local) }));
    };
    const withServer = (moves: Moves): void => {
      for (const move of moves) add(move.local !== server, move, () => ({ server: move.local }));
    };
    const withAuthority = (n: number, moves: Moves): void => {
      for (const move of moves)
        add(move.local !== authorities[n], move, () => ({ authorities: replaced(authorities, n, move.local) }));
    };
    const active = authorities.map((_, n) => n).filter((n) => this.#isAuthorityInTurn(state, n));
    for (const n of users.keys()) withUser(n, this.#userMoves(n, users[n] as number));
    withServer(this.#serverMoves(server, serverHour));
    for (const n of active) withAuthority(n, this.#authorityMoves(state, n));
    for (const number of this.#messages.numbers(state.sent)) {
      const message = this.#messages.message(number);
      if (TO_SERVER.has(message.kind) && this.#isInTurn(state, message))
        withServer(this.#serverMoves(server, serverHour, [number]));
      if (message.kind === 'slot' || message.kind === 'acknowledgement')
        withUser(message.user, this.#userMoves(message.user, users[message.user] as number, [number]));
      if (TO_AUTHORITY.has(message.kind))
        for (const n of active) withAuthority(n, this.#authorityMoves(state, n, number));
    }
    for (const choice of this.#messages.choices(state.sent)) {
      const [first] = choice;
      const message = this.#messages.message(first as number);
      if (message.kind !== 'key') withServer(this.#serverMoves(server, serverHour, choice));
      const readers = message.kind === 'key' ? [message.user] : message.kind === 'outcome' ? [...users.keys()] : [];
      for (const n of readers) withUser(n, this.#userMoves(n, users[n] as number, choice));
    }
    const clock = (whose: string, words: string | undefined, change: () => Partial<State>): void => {
      if (words !== undefined)
        add(true, { local: -1, sent: [], words: `the clock of ${whose} reaches ${words}` }, change);
    };
    const { serverHours, authorityHours: hours } = this.world;
    clock('the server', serverHours[serverHour + 1]?.words, () => ({ serverHour: serverHour + 1 }));
    for (const n of active) {
      const hour = authorityHours[n] as number;
      const { name } = this.#parties.authorities[n] as AuthorityParty;
      clock(name, hours[hour + 1]?.words, () => ({ authorityHours: replaced(authorityHours, n, hour + 1) }));
    }
    return found;
  }

  /**
   * Users differ only in their names, so they are named in the order of their slots in the first buffer: the deposit of user n is accepted
   * after the deposit of user n - 1. This does not apply if user 0 is a cheat.
   */
  #isInTurn(state: State, message: Message): boolean {
    if (message.kind !== 'deposit' || message.buffer > 0 || this.world.options.cheat !== undefined) return true;
    const slots = this.serverBuffersOf(state.server)[0]?.slots.length ?? 0;
    return message.user <= slots;
  }

  /**
   * Authorities are identical except for their names, so they are named in the order in which they first write
   * something. This does not apply if some of them missed something or are gone.
   */
  #isAuthorityInTurn({ authorities }: State, n: number): boolean {
    const { missed = [], gone = [] } = this.world.options.council ?? {};
    if (missed.length + gone.length > 0) return !gone.includes(n);
    return authorities.slice(0, n).every((local) => local !== UNTOUCHED);
  }

  #userMoves(n: number, local: number, messages: readonly number[] = []): Moves {
    const locals = this.#users[n] as Locals<UserLocal>;
    return this.#known(locals, local, 0, messages, () => {
      const party = this.#parties.users[n] as UserParty;
      const value = locals.value(local);
      const endings = messages.length === 0 ? party.act(value) : party.deliver(value, this.#named(messages));
      return this.#movesOf(endings, local, (after) => this.#userNumber(n, after));
    });
  }

  #serverMoves(local: number, hour: number, messages: readonly number[] = []): Moves {
    return this.#known(this.#servers, local, hour, messages, () => {
      const value = this.#servers.value(local);
      const { server } = this.#parties;
      const now = this.world.serverHours[hour]?.now as Millis;
      const endings =
        messages.length === 0 ? server.act(value, now) : server.deliver(value, this.#named(messages), now);
      return this.#movesOf(endings, local, (after) => this.#serverNumber(after));
    });
  }

  #authorityMoves({ authorities, authorityHours }: State, n: number, message?: number): Moves {
    const locals = this.#authorities[n] as Locals<AuthorityLocal>;
    const [local, hour] = [authorities[n] as number, authorityHours[n] as number];
    return this.#known(locals, local, hour, message === undefined ? [] : [message], () => {
      const party = this.#parties.authorities[n] as AuthorityParty;
      const value = locals.value(local);
      const now = this.world.authorityHours[hour]?.now as Millis;
      const endings =
        message === undefined ? party.act(value, now) : party.deliver(value, this.#messages.message(message), now);
      return this.#movesOf(endings, local, (after) => this.#authorityNumber(n, after));
    });
  }

  #known<Local>(
    locals: Locals<Local>,
    local: number,
    hour: number,
    messages: readonly number[],
    make: () => Moves,
  ): Moves {
    const [first = -1] = messages;
    return messages.length > 1
      ? remembered(locals.heard, `${local} ${hour} ${messages.join()}`, make)
      : remembered(locals.moves, (local * MAX_MESSAGES + first + 1) * MAX_HOURS + hour, make);
  }

  #named(numbers: readonly number[]): readonly Message[] {
    return numbers.map((number) => this.#messages.message(number));
  }

  /** Returns endings as numbers, without those that change nothing and send nothing. */
  #movesOf<Local>(endings: readonly Ending<Local>[], before: number, numberOf: (local: Local) => number): Moves {
    const moves = endings.map(
      ({ local, sent, words }): Move => ({
        local: numberOf(local),
        sent: sent.map((message) => this.#messages.number(message)),
        words,
      }),
    );
    return moves.filter(({ local, sent }) => local !== before || sent.length > 0);
  }

  serverBuffersOf(local: number): readonly SecureBuffer[] {
    return remembered(this.#serverBuffers, local, () => this.#parties.server.buffersOf(this.#servers.value(local)));
  }

  /** By authority, then by buffer. */
  authorityBuffersOf({ authorities }: Pick<State, 'authorities'>): readonly (readonly AuthorityBuffer[])[] {
    return authorities.map((local, n) =>
      remembered(this.#authorityBuffers[n] as Map<number, readonly AuthorityBuffer[]>, local, () => {
        const party = this.#parties.authorities[n] as AuthorityParty;
        return party.buffersOf((this.#authorities[n] as Locals<AuthorityLocal>).value(local));
      }),
    );
  }

  #userNumber(n: number, local: UserLocal): number {
    return (this.#users[n] as Locals<UserLocal>).number(canonical(local), local);
  }

  /** The order of independent records is not part of the state. */
  #serverNumber(local: ServerLocal): number {
    const buffers = this.#parties.server.buffersOf(local);
    const { models, drafts, forgot } = local;
    const bodies = local.buffers.map((stored) => stored.bodies);
    return this.#servers.number(canonical({ buffers, bodies, models, drafts, forgot }), local);
  }

  #authorityNumber(n: number, local: AuthorityLocal): number {
    const name = `${local.rolledBack}${local.log.map(canonical).sort().join()}`;
    return (this.#authorities[n] as Locals<AuthorityLocal>).number(name, local);
  }
}

/** Bounds the hours, so that a local state, a message and an hour are one number. */
const MAX_HOURS = 4;

const TO_SERVER: ReadonlySet<Message['kind']> = new Set(['deposit', 'upload'] as const);
const TO_AUTHORITY: ReadonlySet<Message['kind']> = new Set([
  'key-request',
  'close-request',
  'append',
  'adopt',
] as const);

function replaced<Item>(items: readonly Item[], at: number, item: Item): readonly Item[] {
  return items.map((old, n) => (n === at ? item : old));
}

/** Distinguishes a state from every other. */
export function nameOf({ users, server, authorities, serverHour, authorityHours, sent }: State): string {
  return `${users.join()}|${server}|${authorities.join()}|${serverHour}${authorityHours.join('')}|${sent}`;
}
