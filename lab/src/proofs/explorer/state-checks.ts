/** The promises that must hold in every state, and in those in which nothing more can happen; each part is checked once. */
import type { AuthorityBuffer, SecureBuffer } from '@basa/protocol';
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
  /** With several authorities: the end of the buffer, counted over all terminal states. */
  readonly endings: Record<string, number> = {};
  readonly #space: StateSpace;
  readonly #servers: Known = new Map();
  readonly #agreements = new Map<number | string, string | undefined>();
  readonly #acknowledgements: Known = new Map();
  readonly #commitments: Known = new Map();

  constructor(space: StateSpace) {
    this.#space = space;
  }

  problemOf(state: State): string | undefined {
    const space = this.#space;
    const { users, server, authorities, sent } = state;
    const { world } = space;
    const [authority = 0, ...others] = authorities;
    const problem =
      space.messagesProblem(state) ??
      remembered(this.#servers, server, () =>
        serverProblem(world.devices, space.serverBuffersOf(server), space.serverLocal(state)),
      ) ??
      remembered(this.#agreements, others.length === 0 ? pairOf(server, authority) : `${server} ${authorities}`, () =>
        agreementProblem(space.serverBuffersOf(server), space.authorityBuffersOf(state)),
      ) ??
      remembered(this.#acknowledgements, pairOf(server, sent), () =>
        acknowledgementProblem(space.serverBuffersOf(server), space.messagesOf(state)),
      );
    if (problem !== undefined || world.buffers.length === 1) return problem;
    // Several buffers have one authority.
    return users
      .map((local, n) =>
        remembered(this.#commitments, pairOf(local, authority) * users.length + n, () =>
          commitmentProblem(space.userLocal(state, n), space.authorityBuffersOf(state)[0] ?? []),
        ),
      )
      .find((sentence) => sentence !== undefined);
  }

  terminalProblem(state: State): string | undefined {
    const authorities = this.#space.authorityBuffersOf(state);
    const buffers = this.#space.serverBuffersOf(state.server);
    return authorities.length === 1
      ? this.#fateProblem(buffers, authorities[0] ?? [])
      : this.#endProblem(state, buffers);
  }

  /** Each update the server accepted ends in exactly one way. */
  #fateProblem(buffers: readonly SecureBuffer[], authority: readonly AuthorityBuffer[]): string | undefined {
    for (const [at, buffer] of buffers.entries()) {
      const closing = authority[at] as AuthorityBuffer;
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

  /** With several authorities votes may come too late: the design allows it, and nothing is released then. */
  #endProblem(state: State, [buffer]: readonly SecureBuffer[]): string | undefined {
    const status = buffer?.status ?? 'unknown';
    const ending = status === 'frozen' ? 'undecided' : status;
    this.endings[ending] = (this.endings[ending] ?? 0) + 1;
    if (ending === 'included' || ending === 'aborted') return undefined;
    const hasKeys = this.#space
      .messagesOf(state)
      .some((message) => message.kind === 'close-answer' && message.value.keys.length > 0);
    const isSplit = this.#space.world.options.still !== true && ending === 'undecided' && !hasKeys;
    return isSplit ? undefined : `the buffer is ${ending}, and nothing more can happen`;
  }
}

/** Bounds the numbers of local states, so that pairs of numbers are numbers. */
const MAX_LOCALS = 2 ** 24;

function pairOf(a: number, b: number): number {
  return a * MAX_LOCALS + b;
}
