/** Buffers: drawn for the server, keys for devices, closed once, and their outcome for anybody. */
import { equalBytes } from '@basa/masking';
import type { AuthorityMessages, Ctx } from '@basa/protocol';
import {
  AUTHORITY_PATH,
  authorityMessages,
  bufferRequestCodec,
  descriptorCodec,
  MOST_SLOTS,
  outcomeCodec,
} from '@basa/protocol';
import type { FastifyRequest } from '@basa/service';
import { answers, bytesOf, checkDeclaredLength, deviceOf, fail, granted, sendBytes, wireBytes } from '@basa/service';
import { bufferParams, ctxOfPath } from './names.ts';
import type { RouteTools } from './route-tools.ts';

/** Certificate, ticket and one (g, D) for each earlier slot. */
const mostKeyRequestBytes = (bufferSize: number): number => 2048 + 64 * bufferSize;
/** For each slot its deposit, its place in A and its header, whose void list grows with K. */
const mostCloseRequestBytes = (bufferSize: number): number => 2048 + bufferSize * (1024 + 2 * bufferSize);

export function bufferRoutes({ service, authority, keyLimits, now }: RouteTools): void {
  const { app, requireDevice } = service;
  const { core } = authority;
  const sizeOf = (ctx: Ctx): number => (core.buffer(ctx) ?? fail('buffer-unknown')).descriptor.bufferSize;
  /** Before the body is read: the buffer is known, and its size bounds the body. */
  const fits = (most: (bufferSize: number) => number) => async (request: FastifyRequest) =>
    checkDeclaredLength(request, most(sizeOf(ctxOfPath(request.params as { ctx: string }))));
  const bodyOf = (
    request: FastifyRequest,
    ctx: Ctx,
    most: (size: number) => number,
  ): [Uint8Array, AuthorityMessages] => {
    const size = sizeOf(ctx);
    return [bytesOf(request, most(size)), authorityMessages(size)];
  };

  app.post(
    AUTHORITY_PATH.buffers,
    {
      schema: {
        summary: 'Draws a buffer (server)',
        body: wireBytes('bufferRequest'),
        response: answers(wireBytes('descriptor')),
      },
    },
    async (request, reply) => {
      const descriptor = authority.drawBuffer(bufferRequestCodec.decode(bytesOf(request)), now());
      return sendBytes(reply, descriptorCodec.encode(granted(descriptor)));
    },
  );

  app.post(
    AUTHORITY_PATH.keys(':ctx'),
    {
      onRequest: [requireDevice({ limits: keyLimits }), fits(mostKeyRequestBytes)],
      bodyLimit: mostKeyRequestBytes(MOST_SLOTS),
      schema: {
        summary: 'The key of a slot, once, for the device that signs',
        params: bufferParams,
        body: wireBytes('keyRequest'),
        response: answers(wireBytes('keyAnswer')),
      },
    },
    async (request, reply) => {
      const ctx = ctxOfPath(request.params);
      const [bytes, messages] = bodyOf(request, ctx, mostKeyRequestBytes);
      const keyRequest = messages.keyRequest.decode(bytes);
      if (!equalBytes(keyRequest.ticket.ctx, ctx))
        fail('malformed', { detail: 'keyRequest.ticket.ctx: not that of the path' });
      if (!equalBytes(keyRequest.certificate.deviceKey, deviceOf(request).deviceKey)) fail('not-yours');
      return sendBytes(reply, messages.keyAnswer.encode(granted(authority.take(core.issueKey(keyRequest, now())))));
    },
  );

  app.post(
    AUTHORITY_PATH.close(':ctx'),
    {
      onRequest: fits(mostCloseRequestBytes),
      bodyLimit: mostCloseRequestBytes(MOST_SLOTS),
      schema: {
        summary: 'Closes a buffer, once (server)',
        params: bufferParams,
        body: wireBytes('closeRequest'),
        response: answers(wireBytes('closeAnswer')),
      },
    },
    async (request, reply) => {
      const ctx = ctxOfPath(request.params);
      const [bytes, messages] = bodyOf(request, ctx, mostCloseRequestBytes);
      const closeRequest = messages.closeRequest.decode(bytes);
      if (!equalBytes(closeRequest.ctx, ctx)) fail('malformed', { detail: 'closeRequest.ctx: not that of the path' });
      return sendBytes(reply, messages.closeAnswer.encode(granted(authority.take(core.close(closeRequest, now())))));
    },
  );

  app.get(
    AUTHORITY_PATH.outcome(':ctx'),
    { schema: { summary: 'What became of a buffer', params: bufferParams, response: answers(wireBytes('outcome')) } },
    async (request, reply) => {
      const outcome = authority.take(core.outcome(ctxOfPath(request.params), now()));
      return sendBytes(reply, outcomeCodec.encode(granted(outcome)));
    },
  );
}
