/**
 * The states that user, server and authority can be in together, and the steps between them. A state is a few numbers:
 * those of the parties' local states, the hours of both clocks, and the set of messages that were ever sent.
 */
import type { AuthorityBuffer, SecureBuffer } from '@basa/protocol';
import { type AuthorityLocal, AuthorityParty } from './authority-party.ts';
import { canonical } from './canonical.ts';
import { type Cast, type CastOptions, castOf, HOURS, nowAt } from './cast.ts';
import { Interner } from './interner.ts';
import { messageProblem } from './invariants.ts';
import type { Ending, Message } from './messages.ts';
import { remembered } from './remembered.ts';
import { ServerParty } from './server-party.ts';
import type { ServerLocal } from './server-store.ts';
import type { UserLocal } from './user-local.ts';
import { UserParty } from './user-party.ts';

/** Numbers of local states, the hours of both clocks, and the number of the set of messages. */
export interface State {
  readonly users: readonly number[];
  readonly server: number;
  readonly authority: number;
  readonly serverHour: number;
  readonly authorityHour: number;
  readonly sent: number;
}

interface Move {
  readonly local: number;
  readonly sent: readonly number[];
  readonly words: string;
}

type MoveTable = Map<number, readonly Move[]>;

interface MessageSet {
  readonly numbers: readonly number[];
  readonly problem: string | undefined;
}

export class StateSpace {
  readonly cast: Cast;
  readonly #options: CastOptions;
  readonly #parties: { users: readonly UserParty[]; server: ServerParty; authority: AuthorityParty };
  readonly #users: readonly Interner<UserLocal>[];
  readonly #servers = new Interner<ServerLocal>();
  readonly #authorities = new Interner<AuthorityLocal>();
  readonly #messages = new Interner<Message>();
  readonly #sets = new Interner<MessageSet>();
  readonly #moves: { users: readonly MoveTable[]; server: MoveTable; authority: MoveTable };
  readonly #unions = new Map<number, number>();
  readonly #serverBuffers = new Map<number, readonly SecureBuffer[]>();
  readonly #authorityBuffers = new Map<number, readonly AuthorityBuffer[]>();

  constructor(options: CastOptions) {
    this.#options = options;
    this.cast = castOf(options);
    this.#parties = {
      users: this.cast.users.map((_, n) => new UserParty(this.cast, n)),
      server: new ServerParty(this.cast),
      authority: new AuthorityParty(this.cast),
    };
    this.#users = this.cast.users.map(() => new Interner<UserLocal>());
    this.#moves = { users: this.cast.users.map(() => new Map()), server: new Map(), authority: new Map() };
  }

  /** Distinct states of one party, and distinct messages. */
  get sizes(): { readonly local: number; readonly messages: number } {
    const local = this.#users.reduce((sum, { size }) => sum + size, this.#servers.size + this.#authorities.size);
    return { local, messages: this.#messages.size };
  }

  serverLocal({ server }: State): ServerLocal {
    return this.#servers.value(server);
  }

  userLocal({ users }: State, n: number): UserLocal {
    return (this.#users[n] as Interner<UserLocal>).value(users[n] as number);
  }

  /** Everything that was ever sent. */
  messagesOf({ sent }: State): readonly Message[] {
    return this.#sets.value(sent).numbers.map((number) => this.#messages.value(number));
  }

  /** What is wrong with the messages of a state among themselves. */
  messagesProblem({ sent }: State): string | undefined {
    return this.#sets.value(sent).problem;
  }

  start(): State {
    const begun = this.#parties.users.map((party) => party.initial());
    const sent = begun.flatMap((ending) => ending.sent).map((message) => this.#messageNumber(message));
    return {
      users: begun.map(({ local }, n) => this.#userNumber(n, local)),
      server: this.#serverNumber(this.#parties.server.initial()),
      authority: this.#authorityNumber(this.#parties.authority.initial()),
      serverHour: 0,
      authorityHour: 0,
      sent: sent.reduce(
        (set, message) => this.#union(set, message),
        this.#sets.number('', { numbers: [], problem: undefined }),
      ),
    };
  }

  /** Every state one step further, each with what happened. */
  successors(state: State): readonly (readonly [State, string])[] {
    const found: (readonly [State, string])[] = [];
    const { users, server, authority, serverHour, authorityHour } = state;
    /** A move that neither changes its party nor says anything new leads nowhere. */
    const add = (isChange: boolean, { sent, words }: Move, change: () => Partial<State>): void => {
      let set = state.sent;
      for (const message of sent) set = this.#union(set, message);
      if (isChange || set !== state.sent) found.push([{ ...state, ...change(), sent: set }, words]);
    };
    const withUser = (n: number, moves: readonly Move[]): void => {
      for (const move of moves)
        add(move.local !== users[n], move, () => ({ users: users.map((old, m) => (m === n ? move.local : old)) }));
    };
    const withServer = (moves: readonly Move[]): void => {
      for (const move of moves) add(move.local !== server, move, () => ({ server: move.local }));
    };
    const withAuthority = (moves: readonly Move[]): void => {
      for (const move of moves) add(move.local !== authority, move, () => ({ authority: move.local }));
    };
    for (const [n, local] of users.entries()) withUser(n, this.#userMoves(n, local));
    withServer(this.#serverMoves(server, serverHour));
    withAuthority(this.#authorityMoves(authority, authorityHour));
    for (const number of this.#sets.value(state.sent).numbers) {
      const message = this.#messages.value(number);
      for (const n of this.#readers(message)) withUser(n, this.#userMoves(n, users[n] as number, number));
      if (TO_SERVER.has(message.kind) && this.#isInTurn(state, message))
        withServer(this.#serverMoves(server, serverHour, number));
      if (TO_AUTHORITY.has(message.kind)) withAuthority(this.#authorityMoves(authority, authorityHour, number));
    }
    if (this.#options.still) return found;
    const tell = (whose: string, hour: number): Move => ({
      local: -1,
      sent: [],
      words: `the clock of the ${whose} reaches ${HOURS[hour]?.words}`,
    });
    if (serverHour < HOURS.length - 1)
      add(true, tell('server', serverHour + 1), () => ({ serverHour: serverHour + 1 }));
    if (authorityHour < HOURS.length - 1)
      add(true, tell('authority', authorityHour + 1), () => ({ authorityHour: authorityHour + 1 }));
    return found;
  }

  #readers(message: Message): readonly number[] {
    if (message.kind === 'outcome') return this.cast.users.map((_, n) => n);
    return message.kind === 'slot' || message.kind === 'key' || message.kind === 'acknowledgement'
      ? [message.user]
      : [];
  }

  /**
   * Users are alike but for their names, so they are named in the order of their slots in the first buffer: the deposit of
   * user n is accepted there after the one of user n - 1. Not so where user 0 is a cheat.
   */
  #isInTurn(state: State, message: Message): boolean {
    if (message.kind !== 'deposit' || message.buffer > 0 || this.#options.cheat !== undefined) return true;
    const slots = this.serverBuffersOf(state.server)[0]?.slots.length ?? 0;
    return message.user <= slots;
  }

  #userMoves(n: number, local: number, message = -1): readonly Move[] {
    return remembered(this.#moves.users[n] as MoveTable, keyOf(local, message, 0), () => {
      const party = this.#parties.users[n] as UserParty;
      const value = this.#users[n]?.value(local) as UserLocal;
      const endings = message < 0 ? party.act(value) : party.deliver(value, this.#messages.value(message));
      return this.#movesOf(endings, local, (after) => this.#userNumber(n, after));
    });
  }

  #serverMoves(local: number, hour: number, message = -1): readonly Move[] {
    return remembered(this.#moves.server, keyOf(local, message, hour), () => {
      const value = this.#servers.value(local);
      const { server } = this.#parties;
      const endings =
        message < 0
          ? server.act(value, nowAt(hour))
          : server.deliver(value, this.#messages.value(message), nowAt(hour));
      return this.#movesOf(endings, local, (after) => this.#serverNumber(after));
    });
  }

  #authorityMoves(local: number, hour: number, message = -1): readonly Move[] {
    return remembered(this.#moves.authority, keyOf(local, message, hour), () => {
      const value = this.#authorities.value(local);
      const { authority } = this.#parties;
      const endings =
        message < 0
          ? authority.act(value, nowAt(hour))
          : authority.deliver(value, this.#messages.value(message), nowAt(hour));
      return this.#movesOf(endings, local, (after) => this.#authorityNumber(after));
    });
  }

  /** Endings as numbers; one that changes nothing and says nothing is none. */
  #movesOf<Local>(
    endings: readonly Ending<Local>[],
    before: number,
    numberOf: (local: Local) => number,
  ): readonly Move[] {
    const moves = endings.map(
      ({ local, sent, words }): Move => ({
        local: numberOf(local),
        sent: sent.map((message) => this.#messageNumber(message)),
        words,
      }),
    );
    return moves.filter(({ local, sent }) => local !== before || sent.length > 0);
  }

  serverBuffersOf(local: number): readonly SecureBuffer[] {
    return remembered(this.#serverBuffers, local, () => {
      const value = this.#servers.value(local);
      return this.cast.buffers.map((_, at) => this.#parties.server.buffer(value, at));
    });
  }

  authorityBuffersOf(local: number): readonly AuthorityBuffer[] {
    return remembered(this.#authorityBuffers, local, () => {
      const value = this.#authorities.value(local);
      return this.cast.buffers.map((_, at) => this.#parties.authority.buffer(value, at));
    });
  }

  #union(set: number, message: number): number {
    return remembered(this.#unions, set * MAX_MESSAGES + message, () => {
      const { numbers, problem } = this.#sets.value(set);
      return numbers.includes(message) ? set : this.#larger(numbers, problem, message);
    });
  }

  #larger(numbers: readonly number[], problem: string | undefined, added: number): number {
    const larger = [...numbers, added].sort((a, b) => a - b);
    const before = numbers.map((number) => this.#messages.value(number));
    return this.#sets.number(larger.join(), {
      numbers: larger,
      problem: problem ?? messageProblem(before, this.#messages.value(added)),
    });
  }

  #messageNumber(message: Message): number {
    return this.#messages.number(canonical(message), message);
  }

  #userNumber(n: number, local: UserLocal): number {
    return (this.#users[n] as Interner<UserLocal>).number(canonical(local), local);
  }

  /** The order of records that do not touch each other is not part of the state. */
  #serverNumber(local: ServerLocal): number {
    const buffers = this.cast.buffers.map((_, at) => this.#parties.server.buffer(local, at));
    const { models, drafts, forgot } = local;
    const bodies = local.buffers.map((stored) => stored.bodies);
    return this.#servers.number(canonical({ buffers, bodies, models, drafts, forgot }), local);
  }

  #authorityNumber(local: AuthorityLocal): number {
    return this.#authorities.number(`${local.rolledBack}${local.log.map(canonical).sort().join()}`, local);
  }
}

/** Bounds the number of messages, so that a local state, a message and an hour are one number. */
const MAX_MESSAGES = 2 ** 16;

function keyOf(local: number, message: number, hour: number): number {
  return (local * MAX_MESSAGES + message + 1) * HOURS.length + hour;
}

const TO_SERVER: ReadonlySet<Message['kind']> = new Set([
  'deposit',
  'upload',
  'close-answer',
  'model-entry',
  'outcome',
] as const);
const TO_AUTHORITY: ReadonlySet<Message['kind']> = new Set(['key-request', 'close-request', 'append'] as const);

/** Tells a state from every other. */
export function nameOf({ users, server, authority, serverHour, authorityHour, sent }: State): string {
  return `${users.join()}|${server}|${authority}|${serverHour}${authorityHour}|${sent}`;
}
