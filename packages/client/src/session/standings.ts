/** The authorities' statements about themselves, passed on by the server; the device judges each by its own clock. */
import {
  type AuthorityStanding,
  type DeviceStep,
  type Gathered,
  type HeadBody,
  isRefused,
  type ModelEntry,
  type Refused,
  receiveStandings,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import type { DeviceState } from '../device/device-state.ts';
import { isOfLeftBranch } from '../device/heads.ts';
import type { Outside } from '../outside.ts';
import type { Authorities } from '../services/authorities.ts';
import type { RetryOptions } from '../services/retry.ts';
import type { ServerClient } from '../services/server-client.ts';

/** Refusals that may be caused by a wrong clock. Before the device accepts one, it asks the authorities for the time once. */
const OF_THE_CLOCK: ReadonlySet<string> = new Set(['standings-stale', 'epoch-over']);

/** Statements that came with a place are used instead of a request for this long. */
const HANDED_MS = 5_000;

interface StandingsSource {
  readonly outside: Pick<Outside, 'suite' | 'sleep'>;
  readonly server: ServerClient;
  readonly authorities: Authorities;
  readonly state: DeviceState;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly retry: RetryOptions;
}

export class Standings {
  readonly #source: StandingsSource;
  #shown: readonly AuthorityStanding[] = [];
  #gathered: Gathered | undefined;
  /** Statements that came with a place, and the time until which they are used. */
  #handed: { readonly shown: readonly AuthorityStanding[]; readonly until: number } | undefined;
  /** Signed entries of the versions that this process has seen as the newest. */
  readonly #entries = new Map<number, ModelEntry>();

  constructor(source: StandingsSource) {
    this.#source = source;
  }

  /** Returns the entry of a version that an update may be trained on. */
  entryOf(version: number): ModelEntry | undefined {
    return this.#entries.get(version);
  }

  /** The server has shown these statements with a place. */
  handed(shown: readonly AuthorityStanding[]): void {
    const until = this.#source.authorities.now() + HANDED_MS;
    this.#handed = shown.length === 0 ? undefined : { shown, until };
  }

  /**
   * Asks the server for the statements, unless they just came with a place. New statements are stored before they are trusted. Another node
   * of the server may have older statements, so outdated statements are requested again.
   */
  async newest(signal: AbortSignal): Promise<Gathered | Refused> {
    const { authorities, outside, retry, server, task } = this.#source;
    const handed = this.#handed;
    this.#handed = undefined;
    if (handed !== undefined && authorities.now() <= handed.until) {
      const { gathered } = await this.#look(handed.shown, signal);
      if (!isRefused(gathered)) return gathered;
    }
    for (let looks = 1; ; looks++) {
      const { gathered, isBehind } = await this.#look(await server.standings(task, signal), signal);
      if (!isBehind || looks >= retry.attempts) return gathered;
      await outside.sleep(Math.min(retry.longestWaitMs, retry.firstWaitMs * 2 ** (looks - 1)), signal);
    }
  }

  async #look(
    shown: readonly AuthorityStanding[],
    signal: AbortSignal,
  ): Promise<{ gathered: Gathered | Refused; isBehind: boolean }> {
    const { state } = this.#source;
    const gathered = await state.take(await judged(this.#source, shown, signal));
    if (!isRefused(gathered)) return { gathered: this.#believe(shown, gathered), isBehind: false };
    const { epochs } = state.ledger;
    const isOld = shown.some(({ authority, epoch }) => epoch.number < (epochs.get(authority) ?? 0));
    return { gathered, isBehind: isOld || gathered.reason === 'model-stale' };
  }

  #believe(shown: readonly AuthorityStanding[], gathered: Gathered): Gathered {
    const { policy } = this.#source;
    const { entry } = gathered;
    this.#entries.set(entry.version, entry);
    for (const version of this.#entries.keys())
      if (version < entry.version - policy.maxStaleness) this.#entries.delete(version);
    [this.#shown, this.#gathered] = [shown, gathered];
    return gathered;
  }

  /** Returns the last statements, or newer ones if an upload that names them could come too late. */
  async fresh(signal: AbortSignal): Promise<Gathered | Refused> {
    const known = this.#gathered;
    return known === undefined || this.#isOld(known) ? await this.newest(signal) : known;
  }

  /** True if one of its epochs closes soon, or half of the time for which a signed time counts is over. */
  #isOld({ epochs }: Gathered): boolean {
    const { authorities, policy } = this.#source;
    const [now, freshMs] = [authorities.now(), policy.oneShot?.freshMs ?? 0];
    return epochs.some(({ authority, closes }) => {
      const at = this.#shown.find((one) => one.authority === authority)?.beacon.at ?? 0;
      return closes - now < freshMs || now - at > freshMs / 2;
    });
  }
}

async function judged(
  { authorities, outside, policy, state, task }: StandingsSource,
  shown: readonly AuthorityStanding[],
  signal: AbortSignal,
): Promise<DeviceStep<Gathered>> {
  const seen = authorities.seen();
  const isPast = (head: HeadBody, authority: number): boolean => isOfLeftBranch(seen.get(authority) ?? [], head);
  const judge = (): DeviceStep<Gathered> => {
    const question = { suite: outside.suite, policy, task, now: authorities.now(), isPast };
    return receiveStandings(question, state, shown);
  };
  const step = judge();
  if (!isRefused(step.answer) || !OF_THE_CLOCK.has(step.answer.reason)) return step;
  await authorities.readClocks(signal);
  return judge();
}
