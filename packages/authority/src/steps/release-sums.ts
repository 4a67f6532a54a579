/** The sums of the masks of a batch of the one-shot mode: the batch is made final and durable first, then they are summed in threads. */
import { fromHex, toHex } from '@basa/masking';
import {
  type Ctx,
  type Decision,
  isHolder,
  isRefused,
  type MaskSum,
  type MaskSumBody,
  maskSumCodec,
  type Refused,
  type ReleaseAnswer,
  type ReleaseRequest,
  refused,
  release,
  taskParts,
  type WantedSum,
} from '@basa/protocol';
import type { NoiseSource } from '../masks/work/tasks.ts';
import { ownIndex, record, type ShotTools, uploadsWork, viewOf } from './shot-work.ts';
import type { KnownTask } from './tasks.ts';

export interface Released {
  readonly answer: ReleaseAnswer;
  /** The packed sums that were asked for as vectors, in the order of the request. */
  readonly vectors: readonly Uint8Array[];
}

/** `bytes` is the encoded request. A repeated request gives the same bytes. */
export async function releaseSums(
  tools: ShotTools,
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
function final(tools: ShotTools, known: KnownTask, request: ReleaseRequest): Promise<Decision | Refused> {
  return tools.queue(async () => {
    const decision = release(await viewOf(tools, known), request);
    if (isRefused(decision)) return decision;
    const { ctx, users, writes } = decision;
    const isNew = writes.length > 0;
    const { batch, uploads } = request;
    if (isNew) await tools.audit.write({ kind: 'final', ctx, batch, headers: uploads.map(({ header }) => header) });
    await record(tools, known, decision);
    if (isNew) tools.onEvent({ kind: 'buffer-closed', ctx, accepted: users.length, dropped: 0 });
    return decision;
  });
}

/** In a task whose only authority adds the noise: the secrets of all epochs that the uploads name, by ascending statement. */
function noiseSource(
  { units }: ShotTools,
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
  const held = taskParts(policy).filter((part) => isHolder(part, authority));
  const foreign = wanted.find(({ part }) => !held.includes(part));
  if (foreign !== undefined)
    return refused('part-invalid', { detail: `this authority does not hold part ${foreign.part}` });
  const isOnce = new Set(wanted.map(({ part }) => part)).size === wanted.length;
  return isOnce ? undefined : refused('part-invalid', { detail: 'a part is requested twice' });
}

function signed({ signer }: ShotTools, body: MaskSumBody): MaskSum {
  return { ...body, signature: signer.sign(maskSumCodec.statement(body)) };
}
