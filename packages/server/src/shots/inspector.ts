/** Has waiting uploads inspected by all authorities, some at a time: a bad one is refused individually, before it is in a sum. */
import { equalBytes, toHex } from '@basa/masking';
import {
  type BasaEvent,
  type Ctx,
  type GuardVerdict,
  guardVerdict,
  type InspectRequest,
  MAX_INSPECTED,
  type RefusalReason,
  type Verdict,
  wrongVerdicts,
} from '@basa/protocol';
import type { AuthorityLink, Unsigned } from '../authority/authority-link.ts';
import { Backoff } from '../authority/backoff.ts';
import { gather } from '../authority/gather.ts';
import type { TaskAuthorities } from '../authority/task-authorities.ts';
import type { Fence } from '../store/leases.ts';
import type { NamedAt } from '../store/pending-shots.ts';
import type { StoredShot } from '../store/shots.ts';
import type { Store } from '../store/store.ts';
import { endShots } from './end-shots.ts';
import type { KnownVoters } from './known-voters.ts';
import { epochsOf, guardWords, type ShownTools, shownUploads } from './shown.ts';

export interface InspectorOptions extends ShownTools {
  readonly store: Store;
  readonly authorities: TaskAuthorities;
  readonly voters: KnownVoters;
  readonly clock: () => number;
  onEvent(event: BasaEvent): void;
  onTrouble(what: string, error: unknown): void;
}

interface VerdictOf extends Verdict {
  readonly authority: number;
}

/** The time for which the others are awaited once enough of them answered. */
const GRACE_MS = 500;
/** The number of waiting uploads whose names are read to find some that are due; the next look continues after them. */
const LOOKED_AT = 16 * MAX_INSPECTED;

export class Inspector {
  readonly #options: InspectorOptions;
  /** The back-off of uploads that could not be decided. */
  readonly #backoff: Backoff;
  /** The last name that was read, until the end of the list. */
  #after: NamedAt | undefined;

  constructor(options: InspectorOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.clock);
  }

  /** Inspects some waiting uploads. Returns true if there may be more. */
  async look(fence: Fence): Promise<boolean> {
    const { store, task } = this.#options;
    const names = await store.namesOf(task, 'waiting', this.#after, LOOKED_AT);
    const isLast = names.length < LOOKED_AT;
    if (isLast && this.#after === undefined) this.#backoff.keepOnly(new Set(names.map(({ name }) => toHex(name))));
    const due = this.#inTurn(names.map(({ name }) => name));
    const hasMore = due.length > MAX_INSPECTED;
    if (!hasMore) this.#after = isLast ? undefined : names.at(-1);
    await this.#decide(await store.shotsNamed(task, due.slice(0, MAX_INSPECTED)), fence);
    return hasMore || !isLast;
  }

  /** Returns the uploads that are due: first uploads that were never inspected, then those with the oldest last attempt. */
  #inTurn(names: readonly Ctx[]): readonly Ctx[] {
    const failedAt = (name: Ctx): number => this.#backoff.failedAt(toHex(name)) ?? 0;
    return names
      .filter((name) => this.#backoff.isDue(toHex(name)))
      .map((name) => ({ name, at: failedAt(name) }))
      .sort((a, b) => a.at - b.at)
      .map(({ name }) => name);
  }

  async #decide(found: readonly StoredShot[], fence: Fence): Promise<void> {
    // The epochs of the others are over: nobody could judge them, and the batcher ends them.
    const now = this.#options.clock();
    const some = found.filter(({ status, votes }) => status === 'waiting' && now < votes.last);
    if (some.length === 0) return;
    const verdicts = await this.#inspect(some);
    const about = some.map(({ name }) => verdicts.filter(({ upload }) => equalBytes(upload, name)));
    this.#report(about);
    const decided = await Promise.all(some.map((shot, n) => this.#verdictOn(shot, about[n] ?? [])));
    await this.#write(some, decided, fence);
  }

  /** Shows uploads to one authority that has not seen them since it started. Returns its verdicts. */
  async showAgain(link: AuthorityLink, shots: readonly StoredShot[]): Promise<readonly Verdict[]> {
    const verdicts: Verdict[] = [];
    for (let at = 0; at < shots.length; at += MAX_INSPECTED) {
      const request = await this.#request(shots.slice(at, at + MAX_INSPECTED));
      verdicts.push(...(await link.inspect(request)).verdicts);
    }
    return verdicts;
  }

  async #request(shots: readonly StoredShot[]): Promise<Unsigned<InspectRequest>> {
    const { task } = this.#options;
    const epochs = await epochsOf(this.#options, shots);
    return { task, epochs, uploads: await shownUploads(this.#options, shots) };
  }

  /** The verdicts of the authorities that answered, at most one of each about an upload. */
  async #inspect(shots: readonly StoredShot[]): Promise<readonly VerdictOf[]> {
    const { authorities, voters, onTrouble } = this.#options;
    const hear = voters.inspect(shots);
    const request = await this.#request(shots);
    const verdicts: VerdictOf[] = [];
    const ask = async (authority: number, link: AuthorityLink): Promise<void> => {
      const answer = await link.inspect(request);
      const about = shots.flatMap(({ name }) => answer.verdicts.find(({ upload }) => equalBytes(upload, name)) ?? []);
      const said = about.map((verdict) => ({ ...verdict, authority }));
      verdicts.push(...said);
      hear(said); // also if it comes too late for a decision
    };
    const { members } = authorities;
    await gather(
      members.map(({ authority, link }) => ({ authority, ask: () => ask(authority, link) })),
      { needed: Math.min(members.length, this.#options.policy.threshold), graceMs: GRACE_MS },
    ).catch((error: unknown) => onTrouble('too few authorities inspect uploads', error));
    return [...verdicts];
  }

  /** An authority is reported once for each request, with all its uploads. */
  #report(about: readonly (readonly VerdictOf[])[]): void {
    const { task, policy, onEvent } = this.#options;
    const wrong = about.flatMap((verdicts) => wrongVerdicts(policy, verdicts));
    for (const authority of new Set(wrong.map((verdict) => verdict.authority)))
      onEvent({ kind: 'authority-fault', task, authority, subject: 'guard-words' });
  }

  async #verdictOn(shot: StoredShot, verdicts: readonly Verdict[]): Promise<GuardVerdict> {
    return guardVerdict(this.#options.policy, await guardWords(this.#options, shot), verdicts);
  }

  async #write(shots: readonly StoredShot[], decided: readonly GuardVerdict[], fence: Fence): Promise<void> {
    const { store, task } = this.#options;
    const named = (kind: GuardVerdict['kind']): Ctx[] =>
      shots.filter((_, n) => decided[n]?.kind === kind).map(({ name }) => name);
    await store.decideShots(task, named('good'), { from: 'waiting', to: 'good' }, fence);
    for (const [n, verdict] of decided.entries())
      if (verdict.kind === 'bad') await this.refuse(shots[n] as StoredShot, verdict.reason, fence);
    for (const name of named('undecided')) this.#backoff.failed(toHex(name));
    for (const name of [...named('good'), ...named('bad')]) this.#backoff.over(toHex(name));
  }

  /** Its device gets the reason when it asks; the body is removed. */
  refuse(shot: Pick<StoredShot, 'name' | 'status'>, reason: RefusalReason, fence: Fence | undefined): Promise<void> {
    return endShots(this.#options, [shot], { to: 'refused', reason }, fence);
  }
}
