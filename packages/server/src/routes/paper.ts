/** The two routes of the paper's own mode; only with `unsafePaperMode`, only for tasks of that mode. */
import { packedLength } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { paperMessages } from '@basa/protocol/paper';
import { Certificate, unframeHeader } from '@basa/protocol/wire';
import {
  answers,
  BYTES_MEDIA_TYPE,
  bytesOf,
  checkDeclaredLength,
  deviceOf,
  exchange,
  fail,
  granted,
  rememberRequest,
  Type,
  wireBytes,
} from '@basa/service';
import type { PaperTask } from '../tasks/paper-task.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import { checkMember, foundTask, type RouteContext, taskParams } from './context.ts';

/** Of a seed that is sealed with CP-ABE (@basa/abe). */
const SEALED_SEED_BYTES = 240;
const MAX_HEADER_BYTES = 320_000;
const MAX_BODY_BYTES = 512 * 1024 * 1024;

export function mountUnsafePaper(context: RouteContext): void {
  if (!context.unsafePaperMode) return;
  const { service } = context;
  const { app } = service;
  const onRequest = service.requireDevice();

  const connectSchema = {
    summary: 'UNSAFE: takes the turn (only with unsafePaperMode)',
    params: taskParams,
    ...exchange('certificate', 'paperConnectAnswer'),
  };
  app.post(SERVER_PATH.unsafePaperConnect(':task'), { onRequest, schema: connectSchema }, async (request, reply) => {
    const task = await foundTask(context, request.params.task);
    const certificate = Certificate.decode(bytesOf(request));
    await checkMember(context, task, request, certificate);
    rememberRequest(request);
    task.checkRunning();
    const { ticket, inbox, version } = granted(await paperOf(task).connect(certificate));
    const answer = messagesOf(task).connectAnswer.encode({ ticket, inbox, version });
    return reply.type(BYTES_MEDIA_TYPE).send(Buffer.from(answer));
  });

  const accepted = Type.Object({ accepted: Type.Boolean() });
  const uploadSchema = {
    summary: 'UNSAFE: the upload of a turn (only with unsafePaperMode)',
    params: taskParams,
    body: wireBytes('framed paperUpload, then the packed vector'),
    response: answers(accepted),
  };
  const onUpload = async (request: Parameters<typeof deviceOf>[0]): Promise<void> => {
    const { read } = await foundTask(context, (request.params as { task: string }).task);
    const { dimension, modulus } = read.policy;
    checkDeclaredLength(request, MAX_HEADER_BYTES + packedLength(dimension, modulus));
    await onRequest(request);
  };
  const uploadRoute = { onRequest: onUpload, bodyLimit: MAX_BODY_BYTES, schema: uploadSchema };
  app.post(SERVER_PATH.unsafePaperUpload(':task'), uploadRoute, async (request) => {
    const task = await foundTask(context, request.params.task);
    const bytes = bytesOf(request);
    const { header, bodyStart } = unframeHeader(bytes, MAX_HEADER_BYTES);
    const upload = messagesOf(task).upload.decode(header);
    granted(await paperOf(task).upload(deviceOf(request).user, upload, bytes.subarray(bodyStart)));
    rememberRequest(request);
    return { accepted: true };
  });
}

function paperOf(task: RunningTask): PaperTask {
  return task.mode.paper ?? fail('not-found', { detail: 'this task does not use paper mode' });
}

function messagesOf({ read: { policy } }: RunningTask) {
  return paperMessages(policy.bufferSize, { sealedBytes: SEALED_SEED_BYTES });
}
