/** Has waiting uploads inspected by all authorities, some at a time: a bad one is refused individually, before it is in a sum. */
import { elementBits, equalBytes, toHex, unpackVector } from '@basa/masking';
import {
  type BasaEvent,
  type Ctx,
  distinctEpochs,
  type Epoch,
  GUARD_WORDS,
  type GuardVerdict,
  guardVerdict,
  guardWordsOf,
  type InspectRequest,
  MAX_INSPECTED,
  type RefusalReason,
  type SaidBy,
  type ShownUpload,
  shotLayout,
  type TaskId,
  type TaskPolicy,
  type UserId,
  type Verdict,
  type Voters,
  votersOf,
  wrongVerdicts,
} from '@basa/protocol';
import type { TaskAuthorities } from '../authority/authorities.ts';
import type { AuthorityLink, Unsigned } from '../authority/authority-link.ts';
import { Backoff, gather } from '../authority/gather.ts';
import { type BlobStore, bodiesOf, collect } from '../blobs/blob-store.ts';
import type { NamedAt, ShotStatus, StoredShot } from '../store/shots.ts';
import type { Fence } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import type { Epochs } from './epochs.ts';
import { shotKey } from './intake.ts';

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

/** The time for which verdicts count. */
const FRESH_MS = 60_000;

interface Known {
  readonly user: string;
  readonly at: number;
  readonly said: SaidBy[];
}

type Hear = (verdicts: readonly (Verdict & SaidBy)[]) => void;

/**
 * The authorities that would vote for each upload, as of its last inspection. They are kept for a short time and only in memory, because
 * authorities may change their minds: without them, an upload is inspected again before it enters a batch.
 */
export class KnownVoters {
  readonly #clock: () => number;
  readonly #known = new Map<string, Known>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  of(name: Ctx): Voters | undefined {
    const known = this.#known.get(toHex(name));
    return known && votersOf(known.said);
  }

  /** Returns a function that takes the verdicts of a new inspection. Those of earlier ones count no more, even if they come later. */
  inspect(shots: readonly Pick<StoredShot, 'name' | 'upload'>[]): Hear {
    const at = this.#clock();
    const inspected = new Map<string, Known>();
    for (const { name, upload } of shots) inspected.set(toHex(name), { user: toHex(upload.header.user), at, said: [] });
    for (const [name, known] of inspected) this.#known.set(name, known);
    return (verdicts) => {
      for (const { upload, authority, verdict } of verdicts)
        inspected.get(toHex(upload))?.said.push({ authority, verdict });
    };
  }

  forgetOld(): void {
    this.#forget(({ at }) => Math.abs(this.#clock() - at) >= FRESH_MS);
  }

  forgetUsers(users: readonly UserId[]): void {
    const names = new Set(users.map(toHex));
    this.#forget(({ user }) => names.has(user));
  }

  #forget(isOver: (known: Known) => boolean): void {
    for (const [name, known] of this.#known) if (isOver(known)) this.#known.delete(name);
  }
}

export interface EndTools {
  readonly task: TaskId;
  readonly store: Store;
  readonly blobs: BlobStore;
}

export interface ShotEnd {
  readonly to: 'refused' | 'over';
  readonly reason: RefusalReason;
}

/** Ends uploads that can be in no batch: their devices get the reason when they ask, and their bodies are removed. */
export async function endShots(
  { task, store, blobs }: EndTools,
  shots: readonly Pick<StoredShot, 'name' | 'status'>[],
  end: ShotEnd,
  fence: Fence | undefined,
): Promise<void> {
  const names = shots.map(({ name }) => name);
  for (const from of new Set<ShotStatus>(shots.map(({ status }) => status)))
    await store.decideShots(task, names, { from, ...end }, fence);
  // Not the body of an upload that another request accepted or decided in the meantime.
  const ended = (await store.shotsNamed(task, names)).filter(({ reason }) => reason !== undefined);
  await blobs.removeBelow(...ended.map(({ name }) => bodiesOf(name)));
}

export interface ShownTools {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly blobs: BlobStore;
  readonly epochs: Epochs;
}

/** The epochs that these uploads name, each once. */
export async function epochsOf({ epochs }: ShownTools, shots: readonly StoredShot[]): Promise<readonly Epoch[]> {
  const headers = shots.map(({ upload }) => upload.header);
  const named = headers.flatMap((header) => header.epochs.map(({ statement }) => statement));
  const known = await epochs.named(named);
  return distinctEpochs({ epoch: (statement) => known.get(toHex(statement)) }, headers);
}

export function shownUploads(tools: ShownTools, shots: readonly StoredShot[]): Promise<readonly ShownUpload[]> {
  return Promise.all(shots.map((shot) => shownUpload(tools, shot)));
}

async function shownUpload({ policy, blobs }: ShownTools, { name, upload }: StoredShot): Promise<ShownUpload> {
  const { vectorBytes, partsBytes, bodyBytes } = shotLayout(policy, upload.header.epochs);
  const key = shotKey(policy, name, upload);
  const { certificate, header } = upload;
  return { certificate, header, sealed: await collect(blobs.read(key, vectorBytes, bodyBytes), partsBytes) };
}

/** This many elements always end at a byte boundary. */
const WHOLE_BYTES = 8;

/** The guard words of y, at its start and at its end. */
export async function guardWords({ policy, blobs }: ShownTools, { name, upload }: StoredShot): Promise<Uint32Array> {
  const { modulus } = policy;
  const { elements, vectorBytes } = shotLayout(policy, upload.header.epochs);
  const key = shotKey(policy, name, upload);
  const read = async (from: number, to: number): Promise<Uint32Array> => {
    const [start, end] = [
      (from / 8) * elementBits(modulus),
      to === elements ? vectorBytes : (to / 8) * elementBits(modulus),
    ];
    const unpacked = unpackVector(await collect(blobs.read(key, start, end), end - start), to - from, modulus);
    if (unpacked.kind === 'malformed') throw new Error(`a stored vector is damaged: ${unpacked.problem}`);
    return unpacked.vector;
  };
  const last = WHOLE_BYTES * Math.floor((elements - GUARD_WORDS / 2) / WHOLE_BYTES);
  const [first, behind] = await Promise.all([read(0, Math.min(elements, WHOLE_BYTES)), read(last, elements)]);
  return guardWordsOf(Uint32Array.of(...first, ...behind));
}
