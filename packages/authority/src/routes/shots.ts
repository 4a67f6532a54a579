/** The one-shot mode: epochs for anyone, inspections, votes and sums for the server. */
import { Readable } from 'node:stream';
import type { Refused } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { Epochs } from '@basa/protocol/one-shot';
import type { TaskPolicy } from '@basa/protocol/policy';
import {
  type Batch,
  BatchVoteRequest,
  batchCtxOf,
  frameHeader,
  InspectAnswer,
  InspectRequest,
  LiveEpochs,
  ReleaseAnswer,
  ReleaseRequest,
  Vote,
} from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import {
  answers,
  BYTES_MEDIA_TYPE,
  bytesOf,
  checkSender,
  exchange,
  type FastifyReply,
  type FastifyRequest,
  fail,
  granted,
  needDeclaredLength,
  sendBytes,
  wireBytes,
} from '@basa/service';
import type { AuthorityContext } from '../steps/context.ts';
import { inspectUploads, openEpochIfDue, type Released, releaseSums, voteForBatch } from '../steps/shots.ts';
import type { KnownTask } from '../steps/tasks.ts';
import { ofPathTask, taskOf, taskParams } from './route-tools.ts';
import { BytesUnderWay, SHOT_BODY_LIMIT, shotLimits, vectorBytes } from './shot-limits.ts';

type TaskPath = { readonly task: string };

export function shotRoutes(context: AuthorityContext): void {
  const { service, tasks, now, signer, units, watch } = context;
  const { app } = service;
  const shotTask = async (params: TaskPath): Promise<KnownTask> => {
    const known = taskOf(tasks, params);
    if (known.policy.oneShot === undefined) fail('policy-invalid', { detail: 'the task does not use one-shot mode' });
    return known;
  };
  const underWay = new BytesUnderWay();
  /** Before the body is read: the task is known and bounds it, its server sends it, and there is room for it. */
  const fits =
    (most: (policy: TaskPolicy) => number) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const { task, policy } = await shotTask(request.params as TaskPath);
      needDeclaredLength(request, most(policy));
      checkSender(request, { audience: signer.publicKey, publicKey: policy.serverKey });
      const bytes = Number(request.headers['content-length']);
      underWay.hold(request, reply, { task, bytes, most: shotLimits.together(policy) });
    };

  /** The vectors of an answer stay in memory until its receiver has taken all of them. */
  const holdVectors = (
    request: FastifyRequest,
    reply: FastifyReply,
    { task, policy }: KnownTask,
    { wanted }: ReleaseRequest,
  ): void => {
    const bytes = wanted.filter(({ vector }) => vector).length * vectorBytes(policy);
    underWay.hold(request, reply, { task, bytes, most: shotLimits.together(policy) });
  };

  const traced = <Answer extends object>(
    name: string,
    request: FastifyRequest,
    batch: Batch,
    work: () => Promise<Answer | Refused>,
  ): Promise<Answer> => {
    const of = { ctx: batchCtxOf(nodeSuite, batch), carrier: request.headers };
    return watch.traces.step(name, of, async () => granted(await underWay.during(request, work())));
  };

  const ofServer = (
    kind: keyof typeof SHOT_BODY_LIMIT,
    summary: string,
    [asked, answer]: readonly [request: string, answer: string],
  ) => ({
    onRequest: fits(shotLimits[kind]),
    bodyLimit: SHOT_BODY_LIMIT[kind],
    schema: { summary: `${summary} (server, one-shot)`, params: taskParams, ...exchange(asked, answer) },
  });

  app.get(
    AUTHORITY_PATH.epochs(':task'),
    {
      schema: {
        summary: 'The epochs that uploads may name now (one-shot)',
        params: taskParams,
        response: answers(wireBytes('liveEpochs')),
      },
    },
    async (request, reply) => {
      const known = await shotTask(request.params);
      await openEpochIfDue(context, known);
      const epochs = Epochs.openEpochs(units.of(known.task), now());
      return sendBytes(reply, LiveEpochs.encode({ epochs }));
    },
  );

  app.post(
    AUTHORITY_PATH.inspections(':task'),
    ofServer('inspection', 'Inspects uploads, and returns their guard words', ['inspectRequest', 'inspectAnswer']),
    async (request, reply) => {
      const bytes = bytesOf(request);
      const asked = ofPathTask('inspectRequest', InspectRequest.decode(bytes), request.params);
      const known = await shotTask(request.params);
      const answer = granted(await underWay.during(request, inspectUploads(context, known, asked, bytes)));
      return sendBytes(reply, InspectAnswer.encode(answer));
    },
  );

  app.post(
    AUTHORITY_PATH.batchVotes(':task'),
    ofServer('vote', 'Votes for a batch of uploads that were inspected', ['batchVoteRequest', 'vote']),
    async (request, reply) => {
      const asked = BatchVoteRequest.decode(bytesOf(request));
      ofPathTask('batchVoteRequest.batch', asked.batch, request.params);
      const known = await shotTask(request.params);
      const answer = await traced('vote', request, asked.batch, () => voteForBatch(context, known, asked));
      return sendBytes(reply, Vote.encode(answer));
    },
  );

  app.post(
    AUTHORITY_PATH.releases(':task'),
    ofServer('release', 'The sums of the masks of a batch that enough authorities voted for', [
      'releaseRequest',
      'a framed releaseAnswer, then the requested packed vectors',
    ]),
    async (request, reply) => {
      const bytes = bytesOf(request);
      const asked = ReleaseRequest.decode(bytes);
      ofPathTask('releaseRequest.batch', asked.batch, request.params);
      const known = await shotTask(request.params);
      holdVectors(request, reply, known, asked);
      const work = () => releaseSums(context, known, asked, bytes);
      return sendReleased(reply, await traced('release', request, asked.batch, work));
    },
  );
}

/** Vectors are not copied into one answer: each is sent as the connection accepts it. */
function sendReleased(reply: FastifyReply, { answer, vectors }: Released): FastifyReply {
  const parts = [frameHeader(ReleaseAnswer.encode(answer)), ...vectors];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const buffers = parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.length));
  return reply.type(BYTES_MEDIA_TYPE).header('content-length', length).send(Readable.from(buffers));
}
