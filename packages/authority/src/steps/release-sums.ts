/** The sums of the masks of a batch of the one-shot mode: the batch is made final and durable first, then they are summed in threads. */
import { toHex } from '@basa/masking';
import {
  batchCtxOf,
  type Ctx,
  isHolder,
  isRefused,
  type MaskSum,
  type MaskSumBody,
  maskSumCodec,
  type Refused,
  type ReleaseAnswer,
  type ReleaseRequest,
  refused,
  taskParts,
  type WantedSum,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { KnownTask } from '../log/directory.ts';
import type { NoiseSource } from '../masks/work/tasks.ts';
import { meetEpochs, ownIndex, type ShotTools, uploadsWork } from './shot-work.ts';

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
  const { wanted, batch, uploads } = request;
  const problem = wantedProblem(ownIndex(tools, known), known, wanted);
  if (problem !== undefined) return problem;
  const released = await tools.authority.take(({ compute, core, now }) =>
    compute(() => core.releaseBatch(request, now), [batchCtxOf(nodeSuite, batch)]),
  );
  if (isRefused(released)) {
    if (released.reason === 'epoch-over') await meetEpochs(tools, request.epochs);
    return released;
  }
  const { ctx, vote } = released;
  const parts = wanted.map(({ part }) => part);
  const noise = await noiseSource(tools, known, request, ctx);
  const work = await uploadsWork(tools, known, bytes, parts.length === 0 ? 0 : uploads.length);
  const sums = await tools.threads.sum(known.task, work, parts, noise).finally(() => noise?.secret.fill(0));
  if ('kind' in sums) return sums;
  const named = sums.map(({ hash }, n) => ({ task: known.task, ctx, part: parts[n] as number, hash }));
  const vectors = sums.flatMap(({ packed }, n) => (wanted[n]?.vector === true ? [packed] : []));
  return { answer: { vote, sums: named.map((body) => signed(tools, body)) }, vectors };
}

/** In a task whose only authority adds the noise: the secret of the newest of its epochs that the uploads name. */
async function noiseSource(
  tools: ShotTools,
  known: KnownTask,
  { uploads }: ReleaseRequest,
  ctx: Ctx,
): Promise<NoiseSource | undefined> {
  if (known.policy.oneShot?.authorityNoise !== true) return undefined;
  const named = new Set(uploads.flatMap(({ header }) => header.epochs.map(({ statement }) => toHex(statement))));
  const live = await tools.authority.look((core) => core.liveEpochs);
  const [newest] = live
    .filter(({ statement }) => named.has(toHex(statement)))
    .sort((a, b) => b.epoch.number - a.epoch.number);
  const secret = newest && tools.shotSecrets.copyOf(newest.epoch.key);
  if (secret === undefined) throw new Error('the secret of the newest epoch that the batch names is not there');
  return { secret, ctx };
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
