/** The promises that must hold in every state with a lying server; each broken one is a sentence. */
import { type Combination, describeCombination, isSpannedBy } from '../../attacks/solve.ts';
import { keysOf } from './authority.ts';
import { learned } from './knowledge.ts';
import type { LyingServer } from './lying-server.ts';
import type { LyingState } from './lying-state.ts';
import { EVE } from './shape.ts';

type Sentence = string | undefined;

/** The first promise that a state breaks. */
export function brokenPromise(world: LyingServer, state: LyingState): Sentence {
  return (
    registrationProblem(world, state) ??
    closeProblem(world, state) ??
    bothSidesProblem(world, state) ??
    leakProblem(world, state) ??
    acceptedProblem(world, state) ??
    quorumProblem(world, state) ??
    outcomeProblem(world, state)
  );
}

/** One slot has one registration, and a user one slot, as far as enough authorities signed it. */
function registrationProblem(world: LyingServer, state: LyingState): Sentence {
  const { tickets, shape } = world.rules.tables;
  const endorsed = [...new Set(state.locals.flatMap(({ receipts }) => receipts))].filter(
    (ticket) => world.receipts(state, ticket) >= shape.threshold,
  );
  const pair = endorsed.flatMap((a) => endorsed.filter((b) => b > a).map((b) => [a, b] as const));
  for (const [a, b] of pair) {
    if (tickets[a]?.slot === tickets[b]?.slot) return `slot ${tickets[a]?.slot} has two registrations`;
    if (tickets[a]?.user === tickets[b]?.user) return 'one user is registered for two slots';
  }
  return undefined;
}

function closeProblem(world: LyingServer, state: LyingState): Sentence {
  return world.certified(state).length > 1 ? 'one buffer has two closes with enough votes' : undefined;
}

/** A close that counts has enough slots, each of which enough authorities registered for this user. */
function acceptedProblem(world: LyingServer, state: LyingState): Sentence {
  const { closings, shape } = world.rules.tables;
  for (const number of world.certified(state)) {
    const { list, accepted } = closings[number] as (typeof closings)[number];
    if (accepted.length < shape.minimum) return `a buffer was closed with ${accepted.length} slots`;
    if (accepted.some((slot) => world.registrations(state, slot, list[slot] as number) < shape.threshold))
      return 'a slot was accepted that too few authorities registered';
  }
  return undefined;
}

/** An authority that releases keys does so by a close with enough votes, and gives no key against its own record. */
function quorumProblem(world: LyingServer, state: LyingState): Sentence {
  const { tables } = world.rules;
  const sure = world.certified(state);
  for (const { keys } of state.locals)
    for (const records of keys) {
      if (!sure.includes(records.closed)) return 'keys were released without enough votes';
      const { list } = tables.closings[records.closed] as (typeof tables.closings)[number];
      const given = keysOf(world.rules, records);
      const isAgainst = (slot: number): boolean => {
        const own = records.slots[slot];
        return own !== 0 && slot < list.length && own !== tables.ticketIn(list, slot);
      };
      const slots = [...given.edge, ...given.self.map((ticket) => tables.tickets[ticket]?.slot ?? 0)];
      if (slots.some(isAgainst)) return 'an authority gave a key of a slot that it registered for another user';
    }
  return undefined;
}

/** No party holds both the self key of a registration and the edge key of its slot. */
function bothSidesProblem(world: LyingServer, state: LyingState): Sentence {
  if (state.locals.every(({ keys }) => keys.length === 0)) return undefined;
  const { self, edge } = world.openKeys(state);
  const { tickets } = world.rules.tables;
  const bare = [...self].find((ticket) => tickets[ticket]?.user !== EVE && edge.has(tickets[ticket]?.slot ?? -1));
  return bare === undefined ? undefined : `self and edge keys of slot ${tickets[bare]?.slot} were both released`;
}

/** Nothing is revealed but the sum of the honest accepted users of the only close. */
function leakProblem(world: LyingServer, state: LyingState): Sentence {
  if (state.uploads.every((ticket) => ticket === 0)) return undefined;
  const { tables } = world.rules;
  const found = learned(tables, { uploads: state.uploads, ...world.openKeys(state) });
  if (found.length === 0) return undefined;
  const allowed = world.certified(state).map((number): Combination => {
    const { list, accepted } = tables.closings[number] as (typeof tables.closings)[number];
    const users = accepted.map((slot) => list[slot] as number).filter((user) => user >= 0);
    return new Map(users.map((user) => [user, 1]));
  });
  const leak = found.find((combination) => !isSpannedBy([combination], allowed));
  return leak === undefined ? undefined : `the server computes ${describeCombination(leak, (user) => `x${user}`)}`;
}

/** An update that enough authorities declare free is in no sum. */
function outcomeProblem(world: LyingServer, state: LyingState): Sentence {
  const { missing, tables } = world.rules;
  const needed = missing === 'an outcome needs t signatures' ? 1 : tables.shape.threshold;
  const aborted = tables.shape.colluding + state.locals.filter(({ saidAborted }) => saidAborted).length;
  return aborted >= needed && world.certified(state).length > 0
    ? 'users were told that a buffer was aborted, although enough authorities closed it'
    : undefined;
}
