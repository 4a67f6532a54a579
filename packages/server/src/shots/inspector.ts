/** Has uploads that wait inspected by all authorities, some at a time: a bad one is refused by itself, before it is in a sum. */
import { equalBytes, toHex } from '@basa/masking';
import {
  type Ctx,
  type GuardVerdict,
  guardVerdict,
  type InspectRequest,
  MAX_INSPECTED,
  type RefusalReason,
  type TaskPolicy,
  type Verdict,
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
import { firstWords, type ShownTools, shownUploads, statementsOf } from './shown.ts';

export interface InspectorOptions extends ShownTools {
  readonly store: Store;
  readonly authorities: TaskAuthorities;
  readonly clock: () => number;
  onTrouble(what: string, error: unknown): void;
}

/** How long the others are waited for once enough of them answered. */
const GRACE_MS = 500;
/** An authority is shown entries of at most so many versions at once. */
const MAX_VERSIONS = 64;
/** The names of this many waiting uploads are looked at to find some that are due; the next look goes on after them. */
const LOOKED_AT = 16 * MAX_INSPECTED;

export class Inspector {
  readonly #options: InspectorOptions;
  /** Of uploads that nobody could decide about. */
  readonly #backoff: Backoff;
  /** The last name of those that were looked at, until the end of the list. */
  #after: NamedAt | undefined;

  constructor(options: InspectorOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.clock);
  }

  /** Inspects some that wait. Returns whether there may be more. */
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

  /** Those that are due: first those that nobody was asked about, then those that were not asked about for longest. */
  #inTurn(names: readonly Ctx[]): readonly Ctx[] {
    const failedAt = (name: Ctx): number => this.#backoff.failedAt(toHex(name)) ?? 0;
    return names
      .filter((name) => this.#backoff.isDue(toHex(name)))
      .map((name) => ({ name, at: failedAt(name) }))
      .sort((a, b) => a.at - b.at)
      .map(({ name }) => name);
  }

  async #decide(found: readonly StoredShot[], fence: Fence): Promise<void> {
    const waiting = found.filter(({ status }) => status === 'waiting');
    const some = waiting.filter(({ upload }) => withinVersions(waiting, upload.header.version));
    if (some.length === 0) return;
    const verdicts = await this.#inspect(some);
    const decided = await Promise.all(some.map((shot) => this.#verdictOn(shot, verdicts)));
    await this.#write(some, decided, fence);
  }

  /** Shows uploads to one authority that has not seen them since it started. Returns what it says of them. */
  async showAgain(link: AuthorityLink, shots: readonly StoredShot[]): Promise<readonly Verdict[]> {
    const verdicts: Verdict[] = [];
    for (let at = 0; at < shots.length; at += MAX_INSPECTED)
      verdicts.push(...(await link.inspect(await this.#request(shots.slice(at, at + MAX_INSPECTED)))).verdicts);
    return verdicts;
  }

  async #request(shots: readonly StoredShot[]): Promise<Unsigned<InspectRequest>> {
    const { task } = this.#options;
    const statements = await statementsOf(this.#options, shots);
    return { task, ...statements, uploads: await shownUploads(this.#options, shots) };
  }

  /** The verdicts of each authority that answered. */
  async #inspect(shots: readonly StoredShot[]): Promise<readonly (readonly Verdict[])[]> {
    const { authorities, onTrouble } = this.#options;
    const request = await this.#request(shots);
    const verdicts: (readonly Verdict[])[] = [];
    const ask = async (link: AuthorityLink): Promise<void> => {
      verdicts.push((await link.inspect(request)).verdicts);
    };
    const { members } = authorities;
    await gather(
      members.map(({ authority, link }) => ({ authority, ask: () => ask(link) })),
      { needed: Math.min(members.length, neededToDecide(this.#options.policy)), graceMs: GRACE_MS },
    ).catch((error: unknown) => onTrouble('too few authorities inspect uploads', error));
    return [...verdicts];
  }

  async #verdictOn(shot: StoredShot, answers: readonly (readonly Verdict[])[]): Promise<GuardVerdict> {
    const verdicts = answers.flatMap((all) => all.find(({ upload }) => equalBytes(upload, shot.name)) ?? []);
    return guardVerdict(this.#options.policy, await firstWords(this.#options, shot), verdicts);
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

  /** Its device hears the reason when it asks; the body goes. */
  refuse(shot: Pick<StoredShot, 'name' | 'status'>, reason: RefusalReason, fence: Fence | undefined): Promise<void> {
    return endShots(this.#options, [shot], { to: 'refused', reason }, fence);
  }
}

/** As many as have enough holders of every part among them, whoever they are. */
function neededToDecide({ threshold, oneShot }: TaskPolicy): number {
  return Math.max(threshold, 2 * (oneShot?.tolerated ?? 0) + 1);
}

function withinVersions(shots: readonly StoredShot[], version: number): boolean {
  const versions = [...new Set(shots.map(({ upload }) => upload.header.version))].slice(0, MAX_VERSIONS);
  return versions.includes(version);
}
