/** Uploads of the one-shot mode, inspected and voted for. What takes long runs in threads, outside of any step. */
import {
  type BatchVoteAnswer,
  type BatchVoteRequest,
  batchCtxOf,
  type ExaminedUpload,
  givenNameOf,
  type InspectAnswer,
  type InspectRequest,
  inspectRequestCodec,
  isRefused,
  isSigned,
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

/** `bytes` is the encoded request. Nothing is recorded; what was found good is remembered for the vote. */
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
  const examined = uploads.map((shown, n) => examinedOf(shown, results[n] as Examination));
  for (const upload of examined) if (!isRefused(upload)) tools.examined.add(upload);
  const headers = uploads.map(({ header }) => header);
  return tools.authority.look((core, now) => core.inspect(request, examined, now), pastNames(known, headers));
}

/** The vote is durable before it leaves. */
export function voteForBatch(
  { authority, examined }: ShotTools,
  known: KnownTask,
  request: BatchVoteRequest,
): Promise<BatchVoteAnswer | Refused> {
  const { batch } = request;
  const headers = batch.uploads.flatMap((name) => examined.get(name)?.header ?? []);
  const names = [batchCtxOf(nodeSuite, batch), ...pastNames(known, headers)];
  return authority.take(({ compute, core, now }) =>
    compute(() => core.voteForBatch(request, (name) => examined.get(name), now), names),
  );
}

function examinedOf({ certificate, header }: ShownUpload, found: Examination): ExaminedUpload | Refused {
  if ('kind' in found) return found;
  const { notAfter } = certificate;
  return { kind: 'examined', name: uploadNameOf(nodeSuite, header), header, notAfter, guards: found };
}

/** What the core will ask its log about these uploads. */
function pastNames({ task }: KnownTask, headers: readonly ShotHeader[]): readonly Uint8Array[] {
  return [
    ...headers.map((header) => usedNameOf(nodeSuite, task, header)),
    ...headers.map(({ entry, user }) => givenNameOf(nodeSuite, task, entry, user)),
  ];
}
