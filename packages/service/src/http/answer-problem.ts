/** Answers every error with a problem document. */
import type { Socket } from 'node:net';
import {
  PROBLEM_MEDIA_TYPE,
  type ProblemCode,
  type ProblemDocument,
  problemCodeOf,
  problemDocument,
} from '@basa/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemOf } from './problem-of.ts';

/** The service puts requests off, or stops: these are not faults, and `sendProblem` logs them like other refusals. */
const EXPECTED: readonly (ProblemCode | undefined)[] = ['overloaded', 'stopping'];

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const document = isCutOff(error, request) ? problemDocument('interrupted') : problemOf(error);
  const isFault = document.status >= 500 && !EXPECTED.includes(problemCodeOf(document));
  if (isFault) request.log.error({ err: error }, document.title);
  return sendProblem(reply, document);
}

/** The sender disconnected in the middle of the body. The answer cannot be delivered, and this is not an error of the service. */
function isCutOff(error: unknown, { raw }: FastifyRequest): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ECONNRESET' && raw.destroyed && !raw.complete;
}

/** Bytes that are not HTTP get an answer as well, if their sender still listens. */
export function answerBrokenRequest(_: Error, socket: Socket): void {
  const body = JSON.stringify(problemDocument('malformed', { detail: 'the request could not be read' }));
  const head = ['HTTP/1.1 400 Bad Request', `Content-Type: ${PROBLEM_MEDIA_TYPE}`, `Content-Length: ${body.length}`];
  if (socket.writable) socket.write(`${[...head, 'Connection: close', '', body].join('\r\n')}`);
  socket.destroy();
}

const sent = new WeakMap<FastifyReply, ProblemDocument>();

/** Returns the code of the problem document that a request was answered with, if any. */
export function problemSent(reply: FastifyReply): ProblemCode | undefined {
  const document = sent.get(reply);
  return document === undefined ? undefined : problemCodeOf(document);
}

export function sendProblem(reply: FastifyReply, document: ProblemDocument): FastifyReply {
  sent.set(reply, document);
  // Logs the code but not the detail, which may contain words of the request.
  reply.log.info({ refused: problemCodeOf(document), statusCode: document.status }, 'request refused');
  if (document.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(document.retryAfterMs / 1000));
  return reply.code(document.status).type(PROBLEM_MEDIA_TYPE).send(JSON.stringify(document));
}
