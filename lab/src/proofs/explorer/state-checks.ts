/** What must hold in every state, and in those in which nothing more can happen; each part is looked at once. */
import type { AuthorityBuffer } from '@basa/protocol';
import {
  acknowledgementProblem,
  agreementProblem,
  commitmentProblem,
  type SettledFate,
  serverProblem,
  settledFate,
} from './invariants.ts';
import { remembered } from './remembered.ts';
import type { State, StateSpace } from './state-space.ts';

type Known = Map<number, string | undefined>;

export class StateChecks {
  /** Updates by fate, over all terminal states. */
  readonly fates: Record<SettledFate, number> = { included: 0, excluded: 0, aborted: 0, quarantined: 0, unknown: 0 };
  readonly #space: StateSpace;
  readonly #servers: Known = new Map();
  readonly #agreements: Known = new Map();
  readonly #acknowledgements: Known = new Map();
  readonly #commitments: Known = new Map();

  constructor(space: StateSpace) {
    this.#space = space;
  }

  problemOf(state: State): string | undefined {
    const space = this.#space;
    const { users, server, authority, sent } = state;
    const [served, issued] = [space.serverBuffersOf(server), space.authorityBuffersOf(authority)];
    const problem =
      space.messagesProblem(state) ??
      remembered(this.#servers, server, () => serverProblem(space.cast, served, space.serverLocal(state))) ??
      remembered(this.#agreements, pairOf(server, authority), () => agreementProblem(served, issued)) ??
      remembered(this.#acknowledgements, pairOf(server, sent), () =>
        acknowledgementProblem(served, space.messagesOf(state)),
      );
    if (problem !== undefined || space.cast.buffers.length === 1) return problem;
    return users
      .map((local, n) =>
        remembered(this.#commitments, pairOf(local, authority) * users.length + n, () =>
          commitmentProblem(space.userLocal(state, n), issued),
        ),
      )
      .find((sentence) => sentence !== undefined);
  }

  /** Each update the server took ends in exactly one way. */
  terminalProblem({ server, authority }: State): string | undefined {
    for (const [at, buffer] of this.#space.serverBuffersOf(server).entries()) {
      const closing = this.#space.authorityBuffersOf(authority)[at] as AuthorityBuffer;
      for (const [number, slot] of buffer.slots.entries()) {
        if (slot.header === undefined) continue;
        const fate = settledFate(slot, buffer, closing);
        if (fate === undefined)
          return `the update in slot ${number} is lost: the server is ${buffer.status}, the authority ${closing.status}, and nothing more can happen`;
        this.fates[fate]++;
      }
    }
    return undefined;
  }
}

/** Bounds the numbers of local states, so that pairs of numbers are numbers. */
const MAX_LOCALS = 2 ** 24;

function pairOf(a: number, b: number): number {
  return a * MAX_LOCALS + b;
}
