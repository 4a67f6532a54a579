/**
 * Walks through every state that user, server and authority can reach together, breadth first: the real transitions of
 * the core in any order, over a network that keeps every message and may deliver it never, late or again. A party has
 * nothing but its records; so a crash loses what it was about to say, and every step is a restart.
 */
import type { AuthorityBuffer, SecureBuffer } from '@basa/protocol';
import type { AuthorityLocal } from './authority-party.ts';
import { AuthorityParty } from './authority-party.ts';
import { canonical } from './canonical.ts';
import type { Cast, CastOptions } from './cast.ts';
import { castOf, HOURS, nowAt } from './cast.ts';
import { Interner } from './interner.ts';
import type { SettledFate } from './invariants.ts';
import {
  acknowledgementProblem,
  agreementProblem,
  commitmentProblem,
  messageProblem,
  serverProblem,
  settledFate,
} from './invariants.ts';
import type { Ending, Message } from './messages.ts';
import { RestoreError } from './messages.ts';
import type { ServerLocal } from './server-party.ts';
import { ServerParty } from './server-party.ts';
import type { UserLocal } from './user-party.ts';
import { UserParty } from './user-party.ts';

export interface ExploreOptions extends CastOptions {
  /** States to stop after. */
  readonly budget?: number;
  onProgress?(progress: Pick<Exploration, 'states' | 'depth'> & { readonly waiting: number }): void;
}

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** Steps from the start to the farthest state. */
  readonly depth: number;
  /** Whether every state was reached. */
  readonly complete: boolean;
  /** States in which nothing more can happen. */
  readonly terminal: number;
  /** Updates by fate, over all terminal states. */
  readonly fates: Readonly<Record<SettledFate, number>>;
  /** Distinct states of one party, and distinct messages: what the global ones are made of. */
  readonly local: number;
  readonly messages: number;
  /** The shortest way to a state that breaks a promise. */
  readonly counterexample?: { readonly problem: string; readonly steps: readonly string[] };
}

interface Move {
  readonly local: number;
  readonly sent: readonly number[];
  readonly words: string;
}

/** Numbers of local states, the hours of both clocks, and the number of the set of messages. */
interface State {
  readonly users: readonly number[];
  readonly server: number;
  readonly authority: number;
  readonly serverHour: number;
  readonly authorityHour: number;
  readonly sent: number;
}

interface MessageSet {
  readonly numbers: readonly number[];
  readonly problem: string | undefined;
}

const STEP_EVERY = 20_000;

export function explore(options: ExploreOptions): Exploration {
  return new Explorer(options).run();
}

class Explorer {
  readonly #options: ExploreOptions;
  readonly #cast: Cast;
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
  readonly #problems = {
    server: new Map<number, string | undefined>(),
    agreement: new Map<number, string | undefined>(),
    acknowledgement: new Map<number, string | undefined>(),
    users: new Map<number, string | undefined>(),
  };
  readonly #fates: Record<SettledFate, number> = { included: 0, excluded: 0, aborted: 0, quarantined: 0, unknown: 0 };

  constructor(options: ExploreOptions) {
    this.#options = options;
    this.#cast = castOf(options);
    this.#parties = {
      users: this.#cast.users.map((_, n) => new UserParty(this.#cast, n)),
      server: new ServerParty(this.#cast),
      authority: new AuthorityParty(this.#cast),
    };
    this.#users = this.#cast.users.map(() => new Interner<UserLocal>());
    this.#moves = { users: this.#cast.users.map(() => new Map()), server: new Map(), authority: new Map() };
  }

  run(): Exploration {
    const budget = this.#options.budget ?? Number.POSITIVE_INFINITY;
    const start = this.#start();
    const states: State[] = [start];
    const seen = new Set([nameOf(start)]);
    const parents: number[] = [-1];
    const words: string[] = ['the start'];
    const depths: number[] = [0];
    let [transitions, terminal, at] = [0, 0, 0];
    const report = (complete: boolean, counterexample?: Exploration['counterexample']): Exploration => ({
      states: states.length,
      transitions,
      depth: depths.at(-1) ?? 0,
      complete,
      terminal,
      fates: this.#fates,
      local: this.#users.reduce((sum, { size }) => sum + size, this.#servers.size + this.#authorities.size),
      messages: this.#messages.size,
      ...(counterexample === undefined ? {} : { counterexample }),
    });
    const traceTo = (state: number): readonly string[] =>
      state <= 0 ? [] : [...traceTo(parents[state] as number), words[state] as string];

    for (; at < states.length; at++) {
      if (states.length >= budget) return report(false);
      if (at % STEP_EVERY === 0)
        this.#options.onProgress?.({ states: states.length, depth: depths[at] ?? 0, waiting: states.length - at });
      const state = states[at] as State;
      let isTerminal = true;
      let successors: readonly (readonly [State, string])[];
      try {
        successors = this.#successors(state);
      } catch (error) {
        if (!(error instanceof RestoreError)) throw error;
        return report(false, { problem: error.message, steps: traceTo(at) });
      }
      for (const [next, how] of successors) {
        const name = nameOf(next);
        transitions++;
        isTerminal = false;
        if (seen.has(name)) continue;
        seen.add(name);
        states.push(next);
        parents.push(at);
        words.push(how);
        depths.push((depths[at] as number) + 1);
        const problem = this.#problemOf(next);
        if (problem !== undefined) return report(false, { problem, steps: traceTo(states.length - 1) });
      }
      if (!isTerminal) continue;
      terminal++;
      const problem = this.#terminalProblem(state);
      if (problem !== undefined) return report(false, { problem, steps: traceTo(at) });
    }
    return report(true);
  }

  #start(): State {
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
  #successors(state: State): readonly (readonly [State, string])[] {
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
    if (message.kind === 'outcome') return this.#cast.users.map((_, n) => n);
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
    const slots = this.#serverBuffersOf(state.server)[0]?.slots.length ?? 0;
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

  #problemOf({ users, server, authority, sent }: State): string | undefined {
    const [serverBuffers, authorityBuffers] = [this.#serverBuffersOf(server), this.#authorityBuffersOf(authority)];
    const set = this.#sets.value(sent);
    const { server: servers, agreement, acknowledgement, users: owners } = this.#problems;
    const problem =
      set.problem ??
      remembered(servers, server, () => serverProblem(this.#cast, serverBuffers, this.#servers.value(server))) ??
      remembered(agreement, pairOf(server, authority), () => agreementProblem(serverBuffers, authorityBuffers)) ??
      remembered(acknowledgement, pairOf(server, sent), () =>
        acknowledgementProblem(
          serverBuffers,
          set.numbers.map((number) => this.#messages.value(number)),
        ),
      );
    if (problem !== undefined || this.#cast.buffers.length === 1) return problem;
    return users
      .map((local, n) =>
        remembered(owners, pairOf(local, authority) * users.length + n, () =>
          commitmentProblem(this.#users[n]?.value(local) as UserLocal, authorityBuffers),
        ),
      )
      .find((sentence) => sentence !== undefined);
  }

  /** Each update the server took ends in exactly one way. */
  #terminalProblem({ server, authority }: State): string | undefined {
    for (const [at, buffer] of this.#serverBuffersOf(server).entries()) {
      const closing = this.#authorityBuffersOf(authority)[at] as AuthorityBuffer;
      for (const [number, slot] of buffer.slots.entries()) {
        if (slot.header === undefined) continue;
        const fate = settledFate(slot, buffer, closing);
        if (fate === undefined)
          return `the update in slot ${number} is lost: the server is ${buffer.status}, the authority ${closing.status}, and nothing more can happen`;
        this.#fates[fate]++;
      }
    }
    return undefined;
  }

  #serverBuffersOf(local: number): readonly SecureBuffer[] {
    return remembered(this.#serverBuffers, local, () => {
      const value = this.#servers.value(local);
      return this.#cast.buffers.map((_, at) => this.#parties.server.buffer(value, at));
    });
  }

  #authorityBuffersOf(local: number): readonly AuthorityBuffer[] {
    return remembered(this.#authorityBuffers, local, () => {
      const value = this.#authorities.value(local);
      return this.#cast.buffers.map((_, at) => this.#parties.authority.buffer(value, at));
    });
  }

  #union(set: number, message: number): number {
    return remembered(this.#unions, set * MOST_MESSAGES + message, () => {
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
    const buffers = this.#cast.buffers.map((_, at) => this.#parties.server.buffer(local, at));
    const { models, drafts, forgot } = local;
    const bodies = local.buffers.map((stored) => stored.bodies);
    return this.#servers.number(canonical({ buffers, bodies, models, drafts, forgot }), local);
  }

  #authorityNumber(local: AuthorityLocal): number {
    return this.#authorities.number(`${local.rolledBack}${local.log.map(canonical).sort().join()}`, local);
  }
}

/** Bounds the numbers of messages and local states, so that pairs of numbers are numbers. */
const MOST_MESSAGES = 2 ** 16;
const MOST_LOCALS = 2 ** 24;

type MoveTable = Map<number, readonly Move[]>;

function keyOf(local: number, message: number, hour: number): number {
  return (local * MOST_MESSAGES + message + 1) * HOURS.length + hour;
}

function pairOf(a: number, b: number): number {
  return a * MOST_LOCALS + b;
}

function remembered<Value>(table: Map<number, Value>, key: number, compute: () => Value): Value {
  const known = table.get(key);
  if (known !== undefined || table.has(key)) return known as Value;
  const value = compute();
  table.set(key, value);
  return value;
}

const TO_SERVER: ReadonlySet<Message['kind']> = new Set([
  'deposit',
  'upload',
  'close-answer',
  'model-entry',
  'outcome',
] as const);
const TO_AUTHORITY: ReadonlySet<Message['kind']> = new Set(['key-request', 'close-request', 'append'] as const);

function nameOf({ users, server, authority, serverHour, authorityHour, sent }: State): string {
  return `${users.join()}|${server}|${authority}|${serverHour}${authorityHour}|${sent}`;
}
