/**
 * A buffer with an honest server, from the first deposit to the version in the log: users drop out, authorities crash and come back, some
 * stay away for good, answers are lost. Every step adds something, so each run ends; what must hold is how.
 */
import type { Space } from '../explorer/walk.ts';
import { replaced } from './lying-server.ts';
import type { Shape } from './shape.ts';

export type ServiceRule =
  | 'asked again, an authority says the same'
  | 'receipts stand in for records'
  | 'enough votes, not all'
  | 'the set is fixed before it is asked for'
  | 'an upload is durable before it is acknowledged';

type User = 'away' | 'deposited' | 'acknowledged' | 'gone';

/** An authority, what it has on disk, and what of its answers reached the server. */
interface Member {
  readonly life: 'up' | 'down' | 'gone';
  readonly crashes: number;
  /** Bits of slots. */
  readonly registered: number;
  /** The set it voted for, and closed with; -1 for none. */
  readonly vote: number;
  readonly closed: number;
  readonly isAborted: boolean;
  readonly logged: boolean;
  readonly heard: string;
}

export interface ServiceState {
  readonly users: readonly User[];
  readonly members: readonly Member[];
  /** Bits of the uploads that the server has, and the set it asks for; -1 before. */
  readonly stored: number;
  readonly fixed: number;
  readonly isOverdue: boolean;
  readonly isIncluded: boolean;
  /** A broken server has forgotten something. */
  readonly hasForgotten: boolean;
}

export interface ServiceOptions extends Shape {
  /** How often each authority may crash. */
  readonly crashes: number;
  readonly missing?: ServiceRule | undefined;
}

type Found = (readonly [ServiceState, string])[];

export class HonestServer implements Space<ServiceState> {
  readonly #options: ServiceOptions;
  readonly #mayGo: number;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#mayGo = options.authorities - options.threshold;
  }

  /** Authorities on the other side are silent from the beginning: with an honest server that is the worst that they can do. */
  start(): ServiceState {
    const { authorities, colluding, slots } = this.#options;
    const member = (n: number): Member => ({
      life: n < colluding ? 'gone' : 'up',
      crashes: this.#options.crashes,
      registered: 0,
      vote: -1,
      closed: -1,
      isAborted: false,
      logged: false,
      heard: '',
    });
    return {
      users: Array.from({ length: slots }, (): User => 'away'),
      members: Array.from({ length: authorities }, (_, n) => member(n)),
      stored: 0,
      fixed: -1,
      isOverdue: false,
      isIncluded: false,
      hasForgotten: false,
    };
  }

  nameOf({ users, members, stored, fixed, isOverdue, isIncluded, hasForgotten }: ServiceState): string {
    const names = members.map((one) => Object.values(one).join());
    return `${users.join()}|${stored},${fixed},${isOverdue},${isIncluded},${hasForgotten}|${names.sort().join(';')}`;
  }

  successors(state: ServiceState): Found {
    const found: Found = [];
    this.#users(state, found);
    this.#server(state, found);
    for (const n of state.members.keys()) this.#member(state, n, found);
    return found;
  }

  #users(state: ServiceState, found: Found): void {
    const { threshold } = this.#options;
    for (const [slot, user] of state.users.entries()) {
      const become = (next: User, more: Partial<ServiceState> = {}): ServiceState => ({
        ...state,
        users: replaced(state.users, slot, next),
        ...more,
      });
      const isNext = slot === 0 || state.users[slot - 1] !== 'away';
      if (user === 'away' && isNext && state.fixed < 0)
        found.push([become('deposited'), `user ${slot} gets slot ${slot}`]);
      if (user !== 'deposited') continue;
      found.push([become('gone'), `user ${slot} drops out`]);
      const keys = state.members.filter(({ registered }) => (registered >> slot) & 1).length;
      if (keys >= threshold && state.fixed < 0)
        found.push([
          become('acknowledged', { stored: state.stored | (1 << slot) }),
          `the upload of user ${slot} is stored and acknowledged`,
        ]);
    }
  }

  #server(state: ServiceState, found: Found): void {
    const { minimum, missing } = { missing: undefined, ...this.#options };
    const { users, members, stored, fixed, isOverdue } = state;
    const count = bitsOf(stored);
    if (fixed < 0 && count >= minimum)
      found.push([{ ...state, fixed: stored }, `the server fixes the set ${setOf(stored)}`]);
    const isStuck = users.every((user) => user === 'acknowledged' || user === 'gone') && count < minimum;
    if (fixed < 0 && isStuck && !isOverdue)
      found.push([{ ...state, isOverdue: true }, 'the time of the buffer is over']);
    const closed = members.filter(({ heard }) => heard.includes('k')).length;
    if (closed >= this.#options.threshold && !state.isIncluded)
      found.push([{ ...state, isIncluded: true }, 'the server opens the sum']);
    if (missing === 'the set is fixed before it is asked for' && fixed >= 0 && !state.hasForgotten && !state.isIncluded)
      found.push([
        { ...state, fixed: -1, hasForgotten: true, members: members.map((one) => ({ ...one, heard: '' })) },
        'the server crashes, and has not written which set it asked for',
      ]);
    if (missing === 'an upload is durable before it is acknowledged' && stored > 0 && fixed < 0 && !state.hasForgotten)
      for (const slot of users.keys())
        if ((stored >> slot) & 1)
          found.push([
            { ...state, stored: stored & ~(1 << slot), hasForgotten: true },
            `the server crashes, and has not written the upload of slot ${slot}`,
          ]);
  }

  #member(state: ServiceState, n: number, found: Found): void {
    const { missing } = this.#options;
    const member = state.members[n] as Member;
    const become = (next: Partial<Member>, words: string): void => {
      found.push([
        { ...state, members: replaced(state.members, n, { ...member, ...next }) },
        `authority ${n} ${words}`,
      ]);
    };
    /** The answer reaches the server, or is lost after the record was written. */
    const answer = (next: Partial<Member>, letter: string, words: string): void => {
      become({ ...next, heard: withLetter(member.heard, letter) }, words);
      if (Object.keys(next).length > 0) become(next, `${words}, and the answer is lost`);
    };
    if (member.life === 'down') become({ life: 'up' }, 'is back');
    const gone = state.members.filter(({ life }) => life === 'gone').length;
    if (member.life !== 'gone' && gone < this.#mayGo) become({ life: 'gone' }, 'stays away for good');
    if (member.life !== 'up') return;
    if (member.crashes > 0) become({ life: 'down', crashes: member.crashes - 1 }, 'crashes');
    const isDecided = member.vote >= 0 || member.closed >= 0 || member.isAborted;
    for (const [slot, user] of state.users.entries())
      if (user === 'deposited' && !((member.registered >> slot) & 1) && !isDecided)
        become({ registered: member.registered | (1 << slot) }, `registers user ${slot}`);
    if (state.fixed >= 0) this.#close(state, member, answer);
    if (state.isOverdue && member.closed < 0 && member.vote < 0 && !member.heard.includes('a'))
      if (!member.isAborted) answer({ isAborted: true }, 'a', 'aborts');
      else if (missing !== 'asked again, an authority says the same') answer({}, 'a', 'says again that it aborted');
    if (state.isIncluded && !member.heard.includes('m'))
      if (!member.logged) answer({ logged: true }, 'm', 'logs the version');
      else if (missing !== 'asked again, an authority says the same') answer({}, 'm', 'signs the version again');
  }

  #close(
    { fixed, members, isOverdue }: ServiceState,
    member: Member,
    answer: (next: Partial<Member>, letter: string, words: string) => void,
  ): void {
    const { missing, threshold, authorities } = this.#options;
    const votes = members.filter(({ heard }) => heard.includes('v')).length;
    const needed = missing === 'enough votes, not all' ? authorities : threshold;
    const isAgain = missing !== 'asked again, an authority says the same';
    const hasRecords = missing !== 'receipts stand in for records' || (fixed & ~member.registered) === 0;
    if (!member.heard.includes('v') && !member.isAborted && !isOverdue) {
      const before = Math.max(member.vote, member.closed);
      if (before < 0 && hasRecords) answer({ vote: fixed }, 'v', `votes for ${setOf(fixed)}`);
      else if (before === fixed && isAgain) answer({}, 'v', `votes for ${setOf(fixed)} again`);
    }
    if (votes >= needed && !member.heard.includes('k') && !member.isAborted) {
      if (member.closed < 0) answer({ closed: fixed }, 'k', `closes with ${setOf(fixed)}`);
      else if (member.closed === fixed && isAgain) answer({}, 'k', 'gives its keys again');
    }
  }

  problemOf({ users, members, fixed }: ServiceState): string | undefined {
    const sets = new Set(members.flatMap(({ closed }) => (closed < 0 ? [] : [closed])));
    if (sets.size > 1) return 'one buffer was closed with two sets';
    const lost = users.findIndex((user, slot) => user === 'acknowledged' && fixed >= 0 && !((fixed >> slot) & 1));
    return lost < 0 ? undefined : `the acknowledged update of user ${lost} is not in the set`;
  }

  /** Where nothing more can happen: the sum is a version that enough authorities logged, or enough of them say that it was aborted. */
  terminalProblem({ users, members, isIncluded }: ServiceState): string | undefined {
    const { threshold } = this.#options;
    const said = (letter: string): number => members.filter(({ heard }) => heard.includes(letter)).length;
    if (isIncluded)
      return said('m') >= threshold ? undefined : 'the sum is in no version that enough authorities logged';
    if (said('a') >= threshold) return undefined;
    const waiting = users.filter((user) => user === 'acknowledged').length;
    return `a buffer never ended, with ${waiting} acknowledged updates in it`;
  }
}

function withLetter(heard: string, letter: string): string {
  return [...heard, letter].sort().join('');
}

function bitsOf(set: number): number {
  return set.toString(2).replaceAll('0', '').length;
}

function setOf(set: number): string {
  const slots = [...set.toString(2)].reverse().flatMap((bit, slot) => (bit === '1' ? [slot] : []));
  return `{${slots.join(', ')}}`;
}
