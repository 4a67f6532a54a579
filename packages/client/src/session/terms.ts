/** Succession on a device: it asks the server for the terms of its task, follows those whose time has come, and never goes back. */
import { equalBytes, toHex } from '@basa/masking';
import {
  advance,
  isRefused,
  type Line,
  longestAbsenceMs,
  millis,
  type Pins,
  policyInTerm,
  receiveLine,
  type SeenTerm,
  type TaskId,
  type TaskPolicy,
  termNumber,
} from '@basa/protocol';
import type { DeviceState } from '../device/device-state.ts';
import { isOfService, RefusedError } from '../errors.ts';
import type { Outside } from '../outside.ts';
import type { Authorities, Member } from '../services/authorities.ts';
import type { AuthorityClient } from '../services/authority-client.ts';
import type { ServerClient } from '../services/server-client.ts';
import type { Standings } from './standings.ts';

/** An authority that the application named, or a term. */
export interface KnownAuthority {
  readonly key: Uint8Array;
  readonly client: AuthorityClient;
}

export interface TermsSource {
  readonly outside: Pick<Outside, 'suite' | 'now'>;
  readonly server: ServerClient;
  readonly state: DeviceState;
  readonly task: TaskId;
  /** In its first term. */
  readonly first: TaskPolicy;
  /** True for a term that the application names. */
  isTrusted(policy: TaskPolicy): boolean;
  readonly pins: { policy: TaskPolicy } & Pins;
  readonly authorities: Authorities;
  readonly standings: Standings;
  membersOf(policy: TaskPolicy, seen: readonly SeenTerm[]): readonly Member[];
}

/** The interval at which the device asks the server for new terms: a share of the wait in the policy, within these bounds. */
const LOOKS_PER_WAIT = 20;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 60_000;
/** The interval at which the device stores the last time it heard from enough authorities, as a share of the wait in the policy. */
const WRITES_PER_WAIT = 16;

export class Terms {
  readonly #source: TermsSource;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(source: TermsSource) {
    this.#source = source;
  }

  /** A term is stored before the device follows it. If the server does not answer, the device follows the terms it has stored. */
  async follow(signal: AbortSignal, when: 'due' | 'now' = 'due'): Promise<void> {
    if (when === 'now') this.#lookedAt = Number.NEGATIVE_INFINITY;
    const { outside, state, first, isTrusted } = this.#source;
    const now = millis(outside.now());
    const question = { suite: outside.suite, now, isTrusted };
    const line = await this.#line(now, signal);
    const followed =
      line === undefined
        ? advance(question, state.terms, first)
        : receiveLine(question, state.terms, { policy: first, terms: line.terms });
    if (isRefused(followed)) {
      this.#lookedAt = Number.NEGATIVE_INFINITY; // the next call asks again, and does not continue without the line
      throw new RefusedError(followed.reason, followed.detail);
    }
    await state.keepTerms(followed.terms);
    this.#enter(followed.policy);
  }

  #enter(policy: TaskPolicy): void {
    const { pins, authorities, standings, state, membersOf } = this.#source;
    if (termNumber(policy) === termNumber(pins.policy)) return;
    const members = membersOf(policy, state.terms.seen);
    pins.policy = policy;
    authorities.follow(members, policy);
    standings.forget();
  }

  /** True if this device should hear from its authorities, even if it has nothing else to ask: half of the longest absence is over. */
  get mustHear(): boolean {
    const { outside, pins, state } = this.#source;
    const { heardAt } = state.terms;
    return heardAt !== undefined && outside.now() - heardAt > longestAbsenceMs(pins.policy) / 2;
  }

  /** Enough authorities of the term of this device have answered. */
  async heard(): Promise<void> {
    const { outside, state, first } = this.#source;
    const now = millis(outside.now());
    const everyMs = (first.succession?.waitMs ?? 0) / WRITES_PER_WAIT;
    const { heardAt } = state.terms;
    if (heardAt === undefined || Math.abs(now - heardAt) >= everyMs)
      await state.keepTerms({ ...state.terms, heardAt: now });
  }

  async #line(now: number, signal: AbortSignal): Promise<Line | undefined> {
    const { server, task, first } = this.#source;
    const everyMs = Math.max(SHORTEST_MS, Math.min(LONGEST_MS, (first.succession?.waitMs ?? 0) / LOOKS_PER_WAIT));
    if (Math.abs(now - this.#lookedAt) < everyMs) return undefined;
    try {
      const line = await server.line(task, signal);
      this.#lookedAt = now;
      return line;
    } catch (error) {
      signal.throwIfAborted();
      if (isOfService(error)) return undefined;
      throw error;
    }
  }
}

/**
 * The authorities of a term that this device can ask. It may not be allowed to use the address in a term, such as plain http to another
 * machine. This authority is then left out, if the others are enough.
 */
export function membersIn(
  { authorities, threshold }: TaskPolicy,
  seen: readonly SeenTerm[],
  known: Map<string, KnownAuthority>,
  clientAt: (place: { readonly url: string; readonly key: Uint8Array }) => KnownAuthority,
): readonly Member[] {
  const failures: unknown[] = [];
  const members = authorities.flatMap((key, authority): Member[] => {
    const url = seen.find(({ term }) => equalBytes(term.key, key))?.term.address;
    try {
      const one = known.get(toHex(key)) ?? (url === undefined ? undefined : clientAt({ url, key }));
      if (one === undefined) return [];
      known.set(toHex(key), one);
      return [{ authority, client: one.client }];
    } catch (error) {
      failures.push(error);
      return [];
    }
  });
  if (members.length < threshold && failures.length > 0) throw failures[0];
  return members;
}

/** The policy in the term that the device was in when it was last used. */
export function keptPolicy({ suite }: Pick<Outside, 'suite'>, first: TaskPolicy, state: DeviceState): TaskPolicy {
  return first.succession === undefined ? first : policyInTerm(suite, first, state.terms);
}

/** True if these are the authorities of the policy, in any order. */
export function areSeats({ authorities }: Pick<TaskPolicy, 'authorities'>, keys: readonly Uint8Array[]): boolean {
  const isNamed = (key: Uint8Array): boolean => keys.some((one) => equalBytes(one, key));
  return keys.length === authorities.length && authorities.every(isNamed);
}

/**
 * True for the term in which these became the authorities. A later term with another key of the server has the same
 * ones: an application that names the authorities says nothing about it.
 */
export function broughtSeats(policy: TaskPolicy, keys: readonly Uint8Array[]): boolean {
  return policy.term !== undefined && areSeats(policy, keys) && !areSeats(policy.term.previous, keys);
}
