/** Answers with problem documents, whatever went wrong and wherever. */
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

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const document = isCutOff(error, request) ? problemDocument('interrupted') : problemOf(error);
  if (document.status >= 500) request.log.error({ err: error }, document.title);
  return sendProblem(reply, document);
}

/** The sender went away in the middle of the body. Nobody hears the answer, and nothing failed here. */
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

/** The no that a request was answered with, if it was one. */
export function problemSent(reply: FastifyReply): ProblemCode | undefined {
  const document = sent.get(reply);
  return document === undefined ? undefined : problemCodeOf(document);
}

export function sendProblem(reply: FastifyReply, document: ProblemDocument): FastifyReply {
  sent.set(reply, document);
  // Not its detail, which may hold words of the request.
  reply.log.info({ refused: problemCodeOf(document), statusCode: document.status }, 'request refused');
  if (document.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(document.retryAfterMs / 1000));
  return reply.code(document.status).type(PROBLEM_MEDIA_TYPE).send(JSON.stringify(document));
}
