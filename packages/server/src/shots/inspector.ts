/** Has waiting uploads inspected by all authorities, some at a time: a bad one is refused individually, before it is in a sum. */
import { elementBits, equalBytes, toHex, unpackVector } from '@basa/masking';
import type { Ctx, RefusalReason, UserId } from '@basa/protocol';
import { Batching, ServerRole } from '@basa/protocol/one-shot';
import {
  type Epoch,
  InputWords,
  type InspectRequest,
  MAX_INSPECTED,
  type ShownUpload,
  shotLayout,
  type Verdict,
} from '@basa/protocol/wire';
import type { AuthorityLink, Unsigned } from '../authority/authority-link.ts';
import { Backoff, gather, type Member } from '../authority/gather.ts';
import { bodiesOf, collect } from '../blobs/blob-store.ts';
import type { NamedAt, ShotStatus, StoredShot } from '../store/shots.ts';
import type { Fence } from '../store/sql.ts';
import { shotKey } from '../uploads/body.ts';
import type { OneShotContext, TaskContext } from './context.ts';
import type { Epochs } from './epochs.ts';

/** A task in one-shot mode, with what its authorities have told. */
export interface ShotContext extends OneShotContext {
  readonly epochs: Epochs;
  readonly voters: KnownVoters;
}

interface VerdictOf extends Verdict {
  readonly authority: number;
}

/** The number of waiting uploads whose names are read to find some that are due; the next look continues after them. */
const LOOKED_AT = 16 * MAX_INSPECTED;

export class Inspector {
  readonly #context: ShotContext;
  /** The back-off of uploads that could not be decided. */
  readonly #backoff: Backoff;
  /** The last name that was read, until the end of the list. */
  #after: NamedAt | undefined;

  constructor(context: ShotContext) {
    this.#context = context;
    this.#backoff = new Backoff(context.clock);
  }

  /** Inspects some waiting uploads. Returns true if there may be more. */
  async look(fence: Fence): Promise<boolean> {
    const { store, task } = this.#context;
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
    const now = this.#context.clock();
    const some = found.filter(({ status, votes }) => status === 'waiting' && now < votes.last);
    if (some.length === 0) return;
    const verdicts = await this.#inspect(some);
    const about = some.map(({ name }) => verdicts.filter(({ upload }) => equalBytes(upload, name)));
    this.#report(about);
    const decided = await Promise.all(some.map((shot, n) => this.#verdictOn(shot, about[n] ?? [])));
    await this.#write(some, decided, fence);
  }

  /** The verdicts of the authorities that answered, at most one of each about an upload. */
  async #inspect(shots: readonly StoredShot[]): Promise<readonly VerdictOf[]> {
    const { authorities, voters, policy, onTrouble } = this.#context;
    const hear = voters.inspect(shots);
    const request = await requestOf(this.#context, shots);
    const verdicts: VerdictOf[] = [];
    const ask = async ({ authority, link }: Member): Promise<void> => {
      const answer = await link.inspect(request);
      const about = shots.flatMap(({ name }) => answer.verdicts.find(({ upload }) => equalBytes(upload, name)) ?? []);
      const said = about.map((verdict) => ({ ...verdict, authority }));
      verdicts.push(...said);
      hear(said); // also if it comes too late for a decision
    };
    await gather(authorities, Math.min(authorities.length, policy.threshold), ask).catch((error: unknown) =>
      onTrouble('too few authorities inspect uploads', error),
    );
    return [...verdicts];
  }

  /** An authority is reported once for each request, with all its uploads. */
  #report(about: readonly (readonly VerdictOf[])[]): void {
    const { task, policy, onEvent } = this.#context;
    const wrong = about.flatMap((verdicts) => ServerRole.wrongVerdicts(policy, verdicts));
    for (const authority of new Set(wrong.map((verdict) => verdict.authority)))
      onEvent({ kind: 'authority-fault', task, authority, subject: 'guard-words' });
  }

  async #verdictOn(shot: StoredShot, verdicts: readonly Verdict[]): Promise<ServerRole.GuardVerdict> {
    return ServerRole.guardVerdict(this.#context.policy, await guardWords(this.#context, shot), verdicts);
  }

  async #write(shots: readonly StoredShot[], decided: readonly ServerRole.GuardVerdict[], fence: Fence): Promise<void> {
    const { store, task } = this.#context;
    const named = (kind: ServerRole.GuardVerdict['kind']): Ctx[] =>
      shots.filter((_, n) => decided[n]?.kind === kind).map(({ name }) => name);
    await store.decideShots(task, named('good'), { from: 'waiting', to: 'good' }, fence);
    for (const [n, verdict] of decided.entries())
      if (verdict.kind === 'bad')
        await endShots(this.#context, [shots[n] as StoredShot], { to: 'refused', reason: verdict.reason }, fence);
    for (const name of named('undecided')) this.#backoff.failed(toHex(name));
    for (const name of [...named('good'), ...named('bad')]) this.#backoff.over(toHex(name));
  }
}

/** Shows uploads to one authority that has not seen them since it started. Returns its verdicts. */
export async function showAgain(
  context: ShotContext,
  link: AuthorityLink,
  shots: readonly StoredShot[],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (let at = 0; at < shots.length; at += MAX_INSPECTED) {
    const request = await requestOf(context, shots.slice(at, at + MAX_INSPECTED));
    verdicts.push(...(await link.inspect(request)).verdicts);
  }
  return verdicts;
}

async function requestOf(context: ShotContext, shots: readonly StoredShot[]): Promise<Unsigned<InspectRequest>> {
  const epochs = await epochsOf(context, shots);
  return { task: context.task, epochs, uploads: await shownUploads(context, shots) };
}

/** The time for which verdicts count. */
const FRESH_MS = 60_000;

interface Known {
  readonly user: string;
  readonly at: number;
  readonly said: Batching.SaidBy[];
}

type Hear = (verdicts: readonly (Verdict & Batching.SaidBy)[]) => void;

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

  of(name: Ctx): Batching.Voters | undefined {
    const known = this.#known.get(toHex(name));
    return known && Batching.votersOf(known.said);
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

export interface ShotEnd {
  readonly to: 'refused' | 'over';
  readonly reason: RefusalReason;
}

/** Ends uploads that can be in no batch: their devices get the reason when they ask, and their bodies are removed. */
export async function endShots(
  { task, store, blobs }: Pick<TaskContext, 'task' | 'store' | 'blobs'>,
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

/** What is needed to show uploads to authorities. */
type ShownTools = Pick<ShotContext, 'policy' | 'blobs' | 'epochs'>;

/** The epochs that these uploads name, each once. */
export async function epochsOf({ epochs }: ShownTools, shots: readonly StoredShot[]): Promise<readonly Epoch[]> {
  const headers = shots.map(({ upload }) => upload.header);
  const named = headers.flatMap((header) => header.epochs.map(({ statement }) => statement));
  const known = await epochs.named(named);
  return ServerRole.distinctEpochs({ epoch: (statement) => known.get(toHex(statement)) }, headers);
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
  const last = WHOLE_BYTES * Math.floor((elements - InputWords.GUARD_WORDS / 2) / WHOLE_BYTES);
  const [first, behind] = await Promise.all([read(0, Math.min(elements, WHOLE_BYTES)), read(last, elements)]);
  return InputWords.guardWordsOf(Uint32Array.of(...first, ...behind));
}
