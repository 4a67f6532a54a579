/** Inspects uploads of the one-shot mode and votes for them. Slow work runs in threads, outside any step. */
import {
  type BatchVoteAnswer,
  type BatchVoteRequest,
  batchCtxOf,
  batchVoteRequestCodec,
  type Ctx,
  type ExaminedUpload,
  givenNameOf,
  type InspectAnswer,
  type InspectRequest,
  inspectRequestCodec,
  isRefused,
  isSigned,
  MAX_INSPECTED,
  type Refused,
  refused,
  type ShotHeader,
  type ShownUpload,
  uploadNameOf,
  usedNameOf,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { KnownTask } from '../log/directory.ts';
import type { Examination } from '../masks/work/tasks.ts';
import { meetEpochs, type ShotTools, uploadsWork } from './shot-work.ts';

/** `bytes` is the encoded request. Nothing is recorded; good uploads are remembered for the vote. */
export async function inspectUploads(
  tools: ShotTools,
  known: KnownTask,
  request: InspectRequest,
  bytes: Uint8Array,
): Promise<InspectAnswer | Refused> {
  // Before any work is done for it.
  if (!isSigned(nodeSuite, inspectRequestCodec, request, known.policy.serverKey)) return refused('server-unknown');
  await meetEpochs(tools, request.epochs);
  const { uploads } = request;
  const results = await tools.threads.examine(await uploadsWork(tools, known, bytes, uploads.length));
  const examined = uploads.map((shown, n) => judged(shown, results[n] as Examination));
  for (const upload of examined) if (!isRefused(upload)) tools.examined.add(upload, mostOf(known));
  const headers = uploads.map(({ header }) => header);
  return tools.authority.look((core, now) => core.inspect(request, examined, now), pastNames(known, headers));
}

/** Room for two batches, and for pieces that are under way. */
function mostOf({ policy }: KnownTask): number {
  return 2 * policy.bufferSize + 4 * MAX_INSPECTED;
}

/** The vote is durable before it leaves. */
export async function voteForBatch(
  { authority, examined }: ShotTools,
  known: KnownTask,
  request: BatchVoteRequest,
): Promise<BatchVoteAnswer | Refused> {
  // Before any name is looked up for it.
  if (!isSigned(nodeSuite, batchVoteRequestCodec, request, known.policy.serverKey)) return refused('server-unknown');
  const { batch } = request;
  const examinedOf = (name: Ctx): ExaminedUpload | undefined => examined.get(known.task, name);
  const headers = batch.uploads.flatMap((name) => examinedOf(name)?.header ?? []);
  const names = [batchCtxOf(nodeSuite, batch), ...pastNames(known, headers)];
  return authority.take(({ compute, core, now }) => compute(() => core.voteForBatch(request, examinedOf, now), names));
}

function judged({ header }: ShownUpload, found: Examination): ExaminedUpload | Refused {
  if ('kind' in found) return found;
  return { kind: 'examined', name: uploadNameOf(nodeSuite, header), header, guards: found };
}

/** The names that the core will look up in its log for these uploads. */
function pastNames({ task }: KnownTask, headers: readonly ShotHeader[]): readonly Uint8Array[] {
  return [
    ...headers.map((header) => usedNameOf(nodeSuite, task, header)),
    ...headers.map(({ entry, user }) => givenNameOf(nodeSuite, task, entry, user)),
  ];
}
