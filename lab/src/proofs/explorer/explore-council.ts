/**
 * Every state that several authorities and a server can reach together from a filled buffer on: votes, releases, versions, aborts. Any
 * message may arrive never, late or again; everybody may die after any record; each authority has a clock of its own.
 */
import type { AuthorityBuffer } from '@basa/protocol';
import { canonical } from './canonical.ts';
import {
  type AuthorityLog,
  type CouncilEnding,
  type CouncilMessage,
  CouncilParties,
  type CouncilServer,
} from './council-parties.ts';
import { Interner } from './interner.ts';
import { remembered } from './remembered.ts';
import { type Walk, type WalkOptions, walk, wander } from './walk.ts';

export interface CouncilWorldOptions extends WalkOptions {
  readonly authorities: number;
  readonly threshold: number;
  /** No clock reaches closeBy: every run must end with the sum. */
  readonly still?: boolean;
}

export interface CouncilExploration extends Walk {
  /** How the buffer ended, over all terminal states. */
  readonly endings: Readonly<Record<string, number>>;
}

interface State {
  /** Numbers of logs. */
  readonly logs: readonly number[];
  readonly isLate: readonly boolean[];
  readonly server: number;
  /** Numbers of messages that were ever sent, rising. */
  readonly sent: readonly number[];
}

type Moves = readonly { readonly local: number; readonly sent: readonly number[]; readonly words: string }[];

const MAX_MESSAGES = 2 ** 16;
/** The number of a log without records. */
const EMPTY = 0;

export function exploreCouncil(options: CouncilWorldOptions): CouncilExploration {
  const space = new CouncilSpace(options);
  return { ...walk(space, options), endings: space.endings };
}

/** So many random ways to the end instead of every state. */
export function wanderCouncil(
  options: CouncilWorldOptions,
  ways: number,
  draw: (count: number) => number,
): CouncilExploration {
  const space = new CouncilSpace(options);
  return { ...wander(space, ways, draw), endings: space.endings };
}

class CouncilSpace {
  readonly endings: Record<string, number> = {};
  readonly #options: CouncilWorldOptions;
  readonly #parties: CouncilParties;
  readonly #logs: readonly Interner<AuthorityLog>[];
  readonly #servers = new Interner<CouncilServer>();
  readonly #messages = new Interner<CouncilMessage>();
  readonly #moves: readonly Map<number, Moves>[];
  readonly #buffers: readonly Map<number, AuthorityBuffer>[];
  readonly #heard = new Map<string, Moves>();

  constructor(options: CouncilWorldOptions) {
    const all = Array.from({ length: options.authorities }, (_, n) => n);
    this.#options = options;
    this.#parties = new CouncilParties(options.authorities, options.threshold);
    this.#logs = all.map(() => new Interner<AuthorityLog>());
    this.#moves = all.map(() => new Map());
    this.#buffers = all.map(() => new Map());
  }

  start(): State {
    return {
      logs: this.#logs.map((logs) => logs.number('', [])),
      isLate: this.#logs.map(() => false),
      server: this.#serverNumber({ status: 'frozen', votes: [] }),
      sent: [this.#messageNumber(this.#parties.firstRequest)],
    };
  }

  nameOf({ logs, isLate, server, sent }: State): string {
    return `${logs.join()}|${isLate.map(Number).join('')}|${server}|${sent.join()}`;
  }

  successors(state: State): readonly (readonly [State, string])[] {
    const found: (readonly [State, string])[] = [];
    const add = (change: Partial<State>, { sent, words }: Moves[number]): void => {
      const all = [...new Set([...state.sent, ...sent])].sort((a, b) => a - b);
      const next = { ...state, ...change, sent: all };
      if (this.nameOf(next) !== this.nameOf(state)) found.push([next, words]);
    };
    for (const [n, log] of state.logs.entries()) {
      if (!this.#isInTurn(state, n)) continue;
      const isLate = state.isLate[n] as boolean;
      for (const message of [-1, ...state.sent])
        for (const move of this.#authorityMoves(n, log, isLate, message))
          add({ logs: state.logs.map((old, m) => (m === n ? move.local : old)) }, move);
      if (!isLate && this.#options.still !== true)
        add(
          { isLate: state.isLate.map((old, m) => old || m === n) },
          { local: -1, sent: [], words: `the clock of authority ${n} reaches closeBy` },
        );
    }
    for (const move of this.#serverMoves(state)) add({ server: move.local }, move);
    return found;
  }

  /** Authorities are alike but for their names, so they are named in the order in which they write something for the first time. */
  #isInTurn({ logs }: State, n: number): boolean {
    return logs.slice(0, n).every((log) => log !== EMPTY);
  }

  /** One set of slots, one key of each slot, and no word of enough authorities against another. */
  problemOf(state: State): string | undefined {
    const { threshold } = this.#options;
    const buffers = this.#buffersOf(state);
    const count = (status: AuthorityBuffer['status']): number => buffers.filter((one) => one.status === status).length;
    const { status } = this.#servers.value(state.server);
    if (count('closed') > 0 && count('aborted') >= threshold) return 'enough authorities aborted what one has closed';
    if ((status === 'granted' || status === 'included') && count('closed') < threshold)
      return `the server is ${status}, and ${count('closed')} authorities closed the buffer`;
    if (status === 'aborted' && count('closed') > 0) return 'the server aborted what an authority closed';
    return this.#releaseProblem(state);
  }

  terminalProblem(state: State): string | undefined {
    const { status } = this.#servers.value(state.server);
    const ending = status === 'frozen' ? 'undecided' : status;
    this.endings[ending] = (this.endings[ending] ?? 0) + 1;
    if (ending === 'included' || ending === 'aborted') return undefined;
    // Votes that came too late: said in the design, and nothing is released.
    const isSplit = this.#options.still !== true && ending === 'undecided' && !this.#hasKeys(state);
    return isSplit ? undefined : `the buffer is ${ending}, and nothing more can happen`;
  }

  #releaseProblem(state: State): string | undefined {
    const closes = this.#said(state).flatMap((one) =>
      one.kind === 'answer' && one.value.keys.length > 0 ? [one.value] : [],
    );
    const keys = closes.flatMap((one) => one.keys);
    const own = new Set(keys.filter(({ role }) => role === 'self').map(({ slot }) => slot));
    const both = keys.find(({ role, slot }) => role !== 'self' && own.has(slot));
    if (both !== undefined) return `self and edge keys of slot ${both.slot} were both released`;
    const sets = new Set(closes.map(({ outcome }) => canonical(outcome.accepted)));
    return sets.size > 1 ? 'authorities closed one buffer with different sets' : undefined;
  }

  #hasKeys(state: State): boolean {
    return this.#said(state).some((one) => one.kind === 'answer' && one.value.keys.length > 0);
  }

  #said({ sent }: State): readonly CouncilMessage[] {
    return sent.map((number) => this.#messages.value(number));
  }

  #buffersOf({ logs }: State): readonly AuthorityBuffer[] {
    return logs.map((log, n) =>
      remembered(this.#buffers[n] as Map<number, AuthorityBuffer>, log, () => {
        const core = this.#parties.core(n, this.#logs[n]?.value(log) ?? []);
        return core.buffer(this.#parties.buffer.ctx) as AuthorityBuffer;
      }),
    );
  }

  #authorityMoves(n: number, log: number, isLate: boolean, message: number): Moves {
    const key = (log * MAX_MESSAGES + message + 1) * 2 + Number(isLate);
    return remembered(this.#moves[n] as Map<number, Moves>, key, () => {
      const { descriptor } = this.#parties.buffer;
      const now = isLate ? descriptor.closeBy : this.#parties.federation.now;
      const said = message < 0 ? undefined : this.#messages.value(message);
      const logs = this.#logs[n] as Interner<AuthorityLog>;
      const endings = this.#parties.authority(n, logs.value(log), now, said);
      return this.#movesOf(endings, (local) => logs.number(canonical(local), local));
    });
  }

  /** With every choice of one answer of each authority at most, of enough of them. */
  #serverMoves({ server, sent }: State): Moves {
    const said = sent.filter((number) => 'from' in this.#messages.value(number));
    return ['answer', 'outcome', 'entry'].flatMap((kind) => {
      const own = said.filter((number) => this.#messages.value(number).kind === kind);
      return choices(own, (number) => (this.#messages.value(number) as { from: number }).from)
        .filter((choice) => choice.length >= this.#options.threshold)
        .flatMap((choice) => this.#heardBy(server, choice));
    });
  }

  #heardBy(server: number, choice: readonly number[]): Moves {
    const name = `${server}:${choice.join()}`;
    const known = this.#heard.get(name);
    if (known !== undefined) return known;
    const endings = this.#parties.server(
      this.#servers.value(server),
      choice.map((number) => this.#messages.value(number)),
    );
    const moves = this.#movesOf(endings, (local) => this.#serverNumber(local));
    this.#heard.set(name, moves);
    return moves;
  }

  #movesOf<Local>(endings: readonly CouncilEnding<Local>[], numberOf: (local: Local) => number): Moves {
    return endings.map(({ local, sent, words }) => ({
      local: numberOf(local),
      sent: sent.map((message) => this.#messageNumber(message)),
      words,
    }));
  }

  #serverNumber(local: CouncilServer): number {
    return this.#servers.number(canonical(local), local);
  }

  #messageNumber(message: CouncilMessage): number {
    return this.#messages.number(canonical(message), message);
  }
}

/** All ways to take at most one of each group. */
function choices(items: readonly number[], groupOf: (item: number) => number): readonly (readonly number[])[] {
  const groups = [...new Set(items.map(groupOf))];
  return groups.reduce<readonly (readonly number[])[]>(
    (some, group) => {
      const own = items.filter((item) => groupOf(item) === group);
      return some.flatMap((chosen) => [chosen, ...own.map((item) => [...chosen, item])]);
    },
    [[]],
  );
}
