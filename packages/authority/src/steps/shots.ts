/**
 * The one-shot mode at the authority: epochs, inspections, votes and sums of masks. Slow work runs in threads, before anything is decided.
 */
import { equalBytes, fromHex, toHex } from '@basa/masking';
import { type Ctx, isRefused, millis, type Refused, refused, type UserId } from '@basa/protocol';
import { AuthorityRole, Epochs, type Parts } from '@basa/protocol/one-shot';
import { OneShotRules, Privacy, TaskPolicy } from '@basa/protocol/policy';
import {
  type BatchVoteRequest,
  Councils,
  type InspectAnswer,
  InspectRequest,
  isSigned,
  MAX_INSPECTED,
  MaskSum,
  type ReleaseAnswer,
  type ReleaseRequest,
  type ShownUpload,
  uploadNameOf,
  type Vote,
  type WantedSum,
} from '@basa/protocol/wire';
import { withKem } from '@basa/runtime/kem';
import { nodeSuite } from '@basa/runtime/node';
import type { UploadsWork } from '../masks/mask-threads.ts';
import type { Examination, NoiseSource } from '../masks/work/tasks.ts';
import type { AuthorityContext } from './context.ts';
import type { KnownTask } from './tasks.ts';

// Shared by inspections, votes and releases of the one-shot mode: the view of the authority, its records, and the work for the threads.

function ownIndex({ signer }: Pick<AuthorityContext, 'signer'>, { policy }: KnownTask): number {
  return Councils.indexOf(policy, signer.publicKey) as number;
}

/** The authority as the functions of the protocol see it. `users` are those whose rows they may ask for. */
async function viewOf(
  tools: Pick<AuthorityContext, 'store' | 'units' | 'signer'>,
  known: KnownTask,
  users: readonly UserId[] = [],
): Promise<AuthorityRole.Authority> {
  const { store, units, signer } = tools;
  const { task, policy } = known;
  const revoked = new Set<string>();
  const batches = new Map<string, number>();
  await store.transaction(async (tables) => {
    for (const user of users) {
      if (await tables.isRevoked(user)) revoked.add(toHex(user));
      if (Privacy.participationsOf(policy) !== undefined) batches.set(toHex(user), await tables.batchesOf(task, user));
    }
  });
  return {
    suite: nodeSuite,
    signer,
    task,
    policy,
    index: ownIndex(tools, known),
    units: units.of(task),
    isRevoked: (user) => revoked.has(toHex(user)),
    batchesOf: (user) => batches.get(toHex(user)) ?? 0,
  };
}

/** Everything of the decision is on the disk when this returns: then a signature may leave. */
async function record(
  { store, units }: Pick<AuthorityContext, 'store' | 'units'>,
  { task, policy }: KnownTask,
  { ctx, users, writes }: AuthorityRole.Decision,
): Promise<void> {
  if (Privacy.participationsOf(policy) !== undefined)
    await store.transaction((tables) => tables.countBatch(task, ctx, users));
  await units.write(writes);
}

/** The uploads of an encoded request, with the secrets of the live epochs of its task. */
function uploadsWork(tools: AuthorityContext, known: KnownTask, request: Uint8Array, count: number): UploadsWork {
  const secrets = tools.units.openingsOf(known.task);
  return { request, policy: TaskPolicy.encode(known.policy), authority: ownIndex(tools, known), secrets, count };
}

// The periodic work of an authority: epochs open when they are due, and the units of those that are over are destroyed.

const suite = withKem(nodeSuite);

export type ShotEpochTools = Pick<
  AuthorityContext,
  'tasks' | 'store' | 'units' | 'queue' | 'examined' | 'signer' | 'randomBytes'
>;

/** Opens an epoch of the task if one is due: its unit is on the disk before anybody sees the statement. */
export async function openEpochIfDue(tools: ShotEpochTools, { task, policy }: KnownTask): Promise<void> {
  const { units, store, queue, signer, randomBytes } = tools;
  const now = millis(await store.transaction((tables) => tables.now()));
  const isDue = (): boolean => Epochs.isEpochDue(policy, units.of(task), now);
  if (!isDue()) return;
  await queue(async () => {
    if (!isDue()) return; // another request was first
    const secret = randomBytes(32);
    const keys: Epochs.EpochKeys = Epochs.epochKeysOf(suite, OneShotRules.oneShotOf(policy).sealing, secret);
    await units.create(Epochs.epochStatement(signer, { task, policy }, keys, now), secret);
    secret.fill(0);
  });
}

export async function tick(tools: ShotEpochTools): Promise<void> {
  const { store } = tools;
  await store.transaction(async (tables) => tables.forgetTokens(await tables.now()));
  await settleEpochs(tools);
}

/** After the start and on every tick. */
export async function settleEpochs(tools: ShotEpochTools): Promise<void> {
  const { tasks, store, units, queue, examined } = tools;
  const now = millis(await store.transaction((tables) => tables.now()));
  await queue(async () => {
    await units.destroy((epoch) => {
      const policy = tasks.find(epoch.task)?.policy;
      return policy === undefined || Epochs.isEpochOver(policy, epoch, now);
    });
    if (!units.needOlder) await forgetOlderKeys(tools);
  });
  for (const known of tasks.all) if (known.policy.oneShot !== undefined) await openEpochIfDue(tools, known);
  examined.keepOnly((statement) => units.all.some((unit) => equalBytes(unit.statement, statement)));
}

/** No unit is left that an earlier key of the vault sealed. */
async function forgetOlderKeys({ store }: ShotEpochTools): Promise<void> {
  const had = await store.transaction(async (tables) => {
    const { length } = await tables.olderKeys();
    if (length > 0) await tables.replaceOlderKeys([]);
    return length > 0;
  });
  if (had) await store.purge();
}

// Inspects uploads of the one-shot mode and votes for them. Slow work runs in threads, before anything is decided.

/** `bytes` is the encoded request. Nothing is recorded; uploads that may be voted for are remembered. */
export async function inspectUploads(
  tools: AuthorityContext,
  known: KnownTask,
  request: InspectRequest,
  bytes: Uint8Array,
): Promise<InspectAnswer | Refused> {
  // Before any work is done for it.
  if (!isSigned(nodeSuite, InspectRequest, request, known.policy.serverKey)) return refused('server-unknown');
  const { uploads } = request;
  const results = await tools.threads.examine(uploadsWork(tools, known, bytes, uploads.length));
  const examined = uploads.map((shown, n) => judged(shown, results[n] as Examination));
  const users = uploads.map(({ header }) => header.user);
  const answer = AuthorityRole.inspect(await viewOf(tools, known, users), request, examined);
  if (isRefused(answer)) return answer;
  for (const [n, { verdict }] of answer.verdicts.entries()) {
    const upload = examined[n] as Parts.ExaminedUpload | Refused;
    const mayBeVoted = verdict === 'good' || verdict === 'used';
    if (mayBeVoted && !isRefused(upload)) tools.examined.add(upload, mostOf(known));
  }
  return answer;
}

/** Room for two batches, and for pieces that are under way. */
function mostOf({ policy }: KnownTask): number {
  return 2 * policy.bufferSize + 4 * MAX_INSPECTED;
}

/** The vote is on the disk before it is signed. */
export function voteForBatch(
  tools: AuthorityContext,
  known: KnownTask,
  request: BatchVoteRequest,
): Promise<Vote | Refused> {
  return tools.queue(async () => {
    const view = await viewOf(tools, known);
    const decision = AuthorityRole.vote(view, request, (name) => tools.examined.get(known.task, name)?.header);
    if (isRefused(decision)) return decision;
    await record(tools, known, decision);
    return AuthorityRole.signVote(view, decision.ctx);
  });
}

function judged({ header }: ShownUpload, found: Examination): Parts.ExaminedUpload | Refused {
  if ('kind' in found) return found;
  return { kind: 'examined', name: uploadNameOf(nodeSuite, header), header, guards: found };
}

// The sums of the masks of a batch of the one-shot mode: the batch is made final and durable first, then they are summed in threads.

export interface Released {
  readonly answer: ReleaseAnswer;
  /** The packed sums that were asked for as vectors, in the order of the request. */
  readonly vectors: readonly Uint8Array[];
}

/** `bytes` is the encoded request. A repeated request gives the same bytes. */
export async function releaseSums(
  tools: AuthorityContext,
  known: KnownTask,
  request: ReleaseRequest,
  bytes: Uint8Array,
): Promise<Released | Refused> {
  const { wanted, uploads } = request;
  const problem = wantedProblem(ownIndex(tools, known), known, wanted);
  if (problem !== undefined) return problem;
  const decision = await final(tools, known, request);
  if (isRefused(decision)) return decision;
  const { ctx } = decision;
  const parts = wanted.map(({ part }) => part);
  const noise = noiseSource(tools, known, request, ctx);
  const work = uploadsWork(tools, known, bytes, parts.length === 0 ? 0 : uploads.length);
  const sums = await tools.threads.sum(known.task, work, parts, noise).finally(() => {
    for (const secret of noise?.secrets ?? []) secret.fill(0);
  });
  if ('kind' in sums) return sums;
  const named = sums.map(({ hash }, n) => ({ task: known.task, ctx, part: parts[n] as number, hash }));
  const vectors = sums.flatMap(({ packed }, n) => (wanted[n]?.vector === true ? [packed] : []));
  return { answer: { sums: named.map((body) => signed(tools, body)) }, vectors };
}

/** The batch is final on the disk when this returns. */
function final(
  tools: AuthorityContext,
  known: KnownTask,
  request: ReleaseRequest,
): Promise<AuthorityRole.Decision | Refused> {
  return tools.queue(async () => {
    const decision = AuthorityRole.release(await viewOf(tools, known), request);
    if (isRefused(decision)) return decision;
    const { ctx, users, writes } = decision;
    const isNew = writes.length > 0;
    const { batch, uploads } = request;
    if (isNew) await tools.audit.write({ kind: 'final', ctx, batch, headers: uploads.map(({ header }) => header) });
    await record(tools, known, decision);
    if (isNew) tools.onEvent({ kind: 'batch-final', ctx, accepted: users.length }, known.task);
    return decision;
  });
}

/** In a task whose only authority adds the noise: the secrets of all epochs that the uploads name, by ascending statement. */
function noiseSource(
  { units }: AuthorityContext,
  known: KnownTask,
  { uploads }: ReleaseRequest,
  ctx: Ctx,
): NoiseSource | undefined {
  if (known.policy.oneShot?.authorityNoise !== true) return undefined;
  const named = new Set(uploads.flatMap(({ header }) => header.epochs.map(({ statement }) => toHex(statement))));
  const secrets = [...named].sort().flatMap((statement) => units.secretOf(fromHex(statement) as Uint8Array) ?? []);
  if (secrets.length < named.size) throw new Error('the secret of an epoch that the batch names is not there');
  return { secrets, ctx };
}

/** Allows only parts that this authority holds, each once. */
function wantedProblem(authority: number, { policy }: KnownTask, wanted: readonly WantedSum[]): Refused | undefined {
  const held = OneShotRules.taskParts(policy).filter((part) => OneShotRules.isHolder(part, authority));
  const foreign = wanted.find(({ part }) => !held.includes(part));
  if (foreign !== undefined)
    return refused('part-invalid', { detail: `this authority does not hold part ${foreign.part}` });
  const isOnce = new Set(wanted.map(({ part }) => part)).size === wanted.length;
  return isOnce ? undefined : refused('part-invalid', { detail: 'a part is requested twice' });
}

function signed({ signer }: AuthorityContext, body: Omit<MaskSum, 'signature'>): MaskSum {
  return { ...body, signature: signer.sign(MaskSum.statement(body)) };
}
