/** Inspects uploads of the one-shot mode and votes for them. Slow work runs in threads, before anything is decided. */
import {
  type BatchVoteRequest,
  type ExaminedUpload,
  type InspectAnswer,
  type InspectRequest,
  inspect,
  inspectRequestCodec,
  isRefused,
  isSigned,
  MAX_INSPECTED,
  type Refused,
  refused,
  type ShownUpload,
  signVote,
  uploadNameOf,
  type Vote,
  vote,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { Examination } from '../masks/work/tasks.ts';
import { record, type ShotTools, uploadsWork, viewOf } from './shot-work.ts';
import type { KnownTask } from './tasks.ts';

/** `bytes` is the encoded request. Nothing is recorded; uploads that may be voted for are remembered. */
export async function inspectUploads(
  tools: ShotTools,
  known: KnownTask,
  request: InspectRequest,
  bytes: Uint8Array,
): Promise<InspectAnswer | Refused> {
  // Before any work is done for it.
  if (!isSigned(nodeSuite, inspectRequestCodec, request, known.policy.serverKey)) return refused('server-unknown');
  const { uploads } = request;
  const results = await tools.threads.examine(uploadsWork(tools, known, bytes, uploads.length));
  const examined = uploads.map((shown, n) => judged(shown, results[n] as Examination));
  const users = uploads.map(({ header }) => header.user);
  const answer = inspect(await viewOf(tools, known, users), request, examined);
  if (isRefused(answer)) return answer;
  for (const [n, { verdict }] of answer.verdicts.entries()) {
    const upload = examined[n] as ExaminedUpload | Refused;
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
export function voteForBatch(tools: ShotTools, known: KnownTask, request: BatchVoteRequest): Promise<Vote | Refused> {
  return tools.queue(async () => {
    const view = await viewOf(tools, known);
    const decision = vote(view, request, (name) => tools.examined.get(known.task, name)?.header);
    if (isRefused(decision)) return decision;
    await record(tools, known, decision);
    return signVote(view, decision.ctx);
  });
}

function judged({ header }: ShownUpload, found: Examination): ExaminedUpload | Refused {
  if ('kind' in found) return found;
  return { kind: 'examined', name: uploadNameOf(nodeSuite, header), header, guards: found };
}
