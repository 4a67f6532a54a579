/** Refusals and errors, and the problem documents with which requests are answered. */

import type { Socket } from 'node:net';
import { DecodeError } from '@basa/masking';
import type { Refused } from '@basa/protocol';
import { type ProblemCode, Problems } from '@basa/protocol/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isStorageFull } from '../process/start-error.ts';
import { DatabaseUnavailable } from '../sql/postgres.ts';
import type { ServiceLog } from './service-log.ts';

// A refusal as an error to throw: the request is answered with its problem document.

export class ServiceError extends Error {
  readonly document: Problems.ProblemDocument;

  constructor(document: Problems.ProblemDocument) {
    super(document.title);
    this.name = 'ServiceError';
    this.document = document;
  }
}

/** Ends the request with this refusal. */
export function fail(code: ProblemCode, more?: Problems.ProblemMore): never {
  throw new ServiceError(Problems.problemDocument(code, more));
}

/** Ends the request with a refusal of the core. */
export function answerRefusal(no: Refused): never {
  throw new ServiceError(Problems.problemOfRefusal(no));
}

/** Returns the answer of the core; if it is a refusal, ends the request with it. */
export function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if ('kind' in answer && answer.kind === 'refused') answerRefusal(answer as Refused);
  return answer as Answer;
}

// The problem document for any error thrown while a request was served; its text contains nothing internal.

const ASK_AGAIN_MS = 1000;

/** The fields that Fastify's errors carry. */
interface FrameworkError {
  readonly code?: unknown;
  readonly statusCode?: unknown;
  readonly message?: unknown;
  readonly validation?: readonly { readonly params?: { readonly additionalProperty?: unknown } }[];
}

function problemOf(error: unknown): Problems.ProblemDocument {
  if (error instanceof ServiceError) return error.document;
  if (error instanceof DecodeError) return Problems.problemDocument('malformed', { detail: error.message });
  if (error instanceof DatabaseUnavailable)
    return Problems.problemDocument('database-unreachable', { retryAfterMs: ASK_AGAIN_MS });
  if (isStorageFull(error)) return Problems.problemDocument('storage-full');
  const { code, statusCode, message, validation } = (error ?? {}) as FrameworkError;
  if (validation !== undefined)
    return Problems.problemDocument('malformed', { detail: `${message}${unknownKey(validation)}` });
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return Problems.problemDocument('body-too-large');
  // Fastify's own message about a request it could not read: a bad address, media type or length.
  const isFramework = typeof code === 'string' && code.startsWith('FST_ERR_') && typeof message === 'string';
  if (isFramework && typeof statusCode === 'number' && statusCode < 500) {
    return Problems.problemDocument('malformed', { detail: message });
  }
  return Problems.problemDocument('internal');
}

/** The validator reports that a key is unknown, but its message does not say which. */
function unknownKey(validation: NonNullable<FrameworkError['validation']>): string {
  const name = validation[0]?.params?.additionalProperty;
  return name === undefined ? '' : `: ${JSON.stringify(name)}`;
}

// Answers every error with a problem document.

/** The service puts requests off, or stops: these are not faults, and are logged like other refusals. */
const EXPECTED: readonly (ProblemCode | undefined)[] = ['overloaded', 'stopping'];

export function answerError(
  log: ServiceLog,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const document = isCutOff(error, request) ? Problems.problemDocument('interrupted') : problemOf(error);
  const isFault = document.status >= 500 && !EXPECTED.includes(Problems.problemCodeOf(document));
  if (isFault) log.fault(document.title, error, 'error');
  return sendProblem(log, reply, document);
}

/** The sender disconnected in the middle of the body. The answer cannot be delivered, and this is not an error of the service. */
function isCutOff(error: unknown, { raw }: FastifyRequest): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ECONNRESET' && raw.destroyed && !raw.complete;
}

/** Bytes that are not HTTP get an answer as well, if their sender still listens. */
export function answerBrokenRequest(_: Error, socket: Socket): void {
  const body = JSON.stringify(Problems.problemDocument('malformed', { detail: 'the request could not be read' }));
  const head = [
    'HTTP/1.1 400 Bad Request',
    `Content-Type: ${Problems.PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${body.length}`,
  ];
  if (socket.writable) socket.write(`${[...head, 'Connection: close', '', body].join('\r\n')}`);
  socket.destroy();
}

const sent = new WeakMap<FastifyReply, Problems.ProblemDocument>();

/** Returns the code of the problem document that a request was answered with, if any. */
export function problemSent(reply: FastifyReply): ProblemCode | undefined {
  const document = sent.get(reply);
  return document === undefined ? undefined : Problems.problemCodeOf(document);
}

export function sendProblem(log: ServiceLog, reply: FastifyReply, document: Problems.ProblemDocument): FastifyReply {
  sent.set(reply, document);
  // Logs the code but not the detail, which may contain words of the request.
  log.note('request refused', { refused: Problems.problemCodeOf(document), statusCode: document.status });
  if (document.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(document.retryAfterMs / 1000));
  return reply.code(document.status).type(Problems.PROBLEM_MEDIA_TYPE).send(JSON.stringify(document));
}
