/** Small bodies: bytes or JSON, read completely and checked against the digest that their sender signed. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkAbsentBody, checkBodyDigest } from './device-requests.ts';
import { fail } from './problem.ts';

export const BYTES_MEDIA_TYPE = 'application/octet-stream';

export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(BYTES_MEDIA_TYPE, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    checkBodyDigest(request, body);
    return new Uint8Array(body.buffer, body.byteOffset, body.length);
  });
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done) => {
    try {
      checkBodyDigest(request, body);
    } catch (error) {
      return done(error as Error);
    }
    parseJson(request, body.toString('utf8'), done);
  });
  app.addHook('preValidation', async (request) => checkAbsentBody(request));
}

/** Returns the bytes of a body of `application/octet-stream`; pass `most` if the task allows fewer bytes than the route. */
export function bytesOf(request: FastifyRequest, most: number = Number.POSITIVE_INFINITY): Uint8Array {
  const { body } = request;
  if (!(body instanceof Uint8Array)) fail('malformed', { detail: `the body must be ${BYTES_MEDIA_TYPE}` });
  if (body.length > most) fail('body-too-large', { detail: `at most ${most} bytes` });
  return body;
}

/** In `onRequest`: rejects a body whose declared length exceeds the limit of the task, before it is read. */
export function checkDeclaredLength(request: FastifyRequest, most: number): void {
  if (Number(request.headers['content-length'] ?? 0) > most)
    fail('body-too-large', { detail: `at most ${most} bytes` });
}

/** The same for long bodies, which must declare their length: otherwise an anonymous sender could fill the memory. */
export function needDeclaredLength(request: FastifyRequest, most: number): void {
  if (request.headers['content-length'] === undefined)
    fail('malformed', { detail: 'the header content-length is missing; add it' });
  checkDeclaredLength(request, most);
}

/** Answers with bytes of the wire format. */
export function sendBytes(reply: FastifyReply, bytes: Uint8Array): FastifyReply {
  return reply.type(BYTES_MEDIA_TYPE).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
}
