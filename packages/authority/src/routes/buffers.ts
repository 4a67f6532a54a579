/** Buffers: drawn for the server, keys for devices, closed once, and their outcome for anyone. */
import { equalBytes } from '@basa/masking';
import {
  AUTHORITY_PATH,
  type AuthorityMessages,
  abortRequestCodec,
  authorityMessages,
  bufferRequestCodec,
  type Ctx,
  ctxOf,
  type Descriptor,
  drawnBufferCodec,
  MAX_AUTHORITIES,
  MAX_SLOTS,
  offerCodec,
  offerRequestCodec,
  outcomeCodec,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import {
  answers,
  bytesOf,
  checkDeclaredLength,
  checkSender,
  deviceOf,
  exchange,
  type FastifyRequest,
  fail,
  granted,
  needDeclaredLength,
  rememberRequest,
  sendBytes,
  wireBytes,
} from '@basa/service';
import { drawBuffer, makeOffer } from '../steps/buffer-epochs.ts';
import { closeBuffer } from '../steps/close-buffer.ts';
import { bufferParams, ctxOfPath } from './names.ts';
import type { RouteTools } from './route-tools.ts';

/** The signatures of all authorities on one statement. */
const SIGNATURES_BYTES = 65 * MAX_AUTHORITIES;
/** Certificate, ticket and one (g, D) for each earlier slot. */
const maxKeyRequestBytes = (bufferSize: number): number => 2048 + SIGNATURES_BYTES + 64 * bufferSize;
/** For each slot its deposit, its place in A and its header, whose void list grows with K. */
const maxCloseRequestBytes = (bufferSize: number): number =>
  2048 + SIGNATURES_BYTES + bufferSize * (1024 + SIGNATURES_BYTES + 2 * bufferSize);

export function bufferRoutes({ service, authority, epochs, bufferEpochs, keyLimits, watch }: RouteTools): void {
  const { app, requireDevice } = service;
  /** A buffer's descriptor never changes, so one in memory is never outdated. */
  const descriptorOf = async (ctx: Ctx): Promise<Descriptor> => {
    const { core } = authority;
    const buffer = core.isOpen(ctx) ? core.buffer(ctx) : await authority.look((newest) => newest.buffer(ctx));
    return (buffer ?? fail('buffer-unknown')).descriptor;
  };
  const ofPath = (request: FastifyRequest): Promise<Descriptor> =>
    descriptorOf(ctxOfPath(request.params as { ctx: string }));
  /** Before the body is read: the buffer is known, and its size bounds the body. */
  const fits = async (request: FastifyRequest): Promise<void> =>
    checkDeclaredLength(request, maxKeyRequestBytes((await ofPath(request)).bufferSize));
  /** The same for the long body of a close, which its server signs. */
  const fitsServer = async (request: FastifyRequest): Promise<void> => {
    const { bufferSize, serverKey } = await ofPath(request);
    needDeclaredLength(request, maxCloseRequestBytes(bufferSize));
    checkSender(request, { audience: authority.core.publicKey, publicKey: serverKey });
  };
  const bodyOf = async (
    request: FastifyRequest,
    ctx: Ctx,
    most: (size: number) => number,
  ): Promise<[Uint8Array, AuthorityMessages]> => {
    const { bufferSize: size } = await descriptorOf(ctx);
    return [bytesOf(request, most(size)), authorityMessages(size)];
  };

  app.post(
    AUTHORITY_PATH.offers,
    {
      schema: {
        summary: 'The part that this authority offers for a buffer (server)',
        ...exchange('offerRequest', 'offer'),
      },
    },
    async (request, reply) => {
      const offer = granted(await makeOffer(bufferEpochs, offerRequestCodec.decode(bytesOf(request))));
      return sendBytes(reply, offerCodec.encode(offer));
    },
  );

  app.post(
    AUTHORITY_PATH.buffers,
    {
      schema: {
        summary: 'Draws a buffer (server)',
        ...exchange('bufferRequest', 'drawnBuffer'),
      },
    },
    async (request, reply) => {
      const startedAt = Date.now();
      const drawn = granted(await drawBuffer(bufferEpochs, bufferRequestCodec.decode(bytesOf(request))));
      watch.traces.past('draw', startedAt, { ctx: ctxOf(nodeSuite, drawn.descriptor) });
      return sendBytes(reply, drawnBufferCodec.encode(drawn));
    },
  );

  app.post(
    AUTHORITY_PATH.keys(':ctx'),
    {
      onRequest: [requireDevice({ limits: keyLimits }), fits],
      bodyLimit: maxKeyRequestBytes(MAX_SLOTS),
      schema: {
        summary: 'The key of a slot, once, for the device that signs',
        params: bufferParams,
        ...exchange('keyRequest', 'keyAnswer'),
      },
    },
    async (request, reply) => {
      const ctx = ctxOfPath(request.params);
      const [bytes, messages] = await bodyOf(request, ctx, maxKeyRequestBytes);
      const keyRequest = messages.keyRequest.decode(bytes);
      if (!equalBytes(keyRequest.ticket.ctx, ctx))
        fail('malformed', { detail: 'keyRequest.ticket.ctx: not that of the path' });
      if (!equalBytes(keyRequest.certificate.deviceKey, deviceOf(request).deviceKey)) fail('not-yours');
      const { slot } = keyRequest.ticket;
      const answer = await watch.traces.step('key', { ctx, slot }, async () =>
        granted(await authority.step((core, now) => core.issueKey(keyRequest, now))),
      );
      rememberRequest(request);
      return sendBytes(reply, messages.keyAnswer.encode(answer));
    },
  );

  app.post(
    AUTHORITY_PATH.close(':ctx'),
    {
      onRequest: fitsServer,
      bodyLimit: maxCloseRequestBytes(MAX_SLOTS),
      schema: {
        summary: 'Votes for the close of a buffer, and closes it once there are enough votes (server)',
        params: bufferParams,
        ...exchange('closeRequest', 'closeAnswer'),
      },
    },
    async (request, reply) => {
      const ctx = ctxOfPath(request.params);
      const [bytes, messages] = await bodyOf(request, ctx, maxCloseRequestBytes);
      const closeRequest = messages.closeRequest.decode(bytes);
      if (!equalBytes(closeRequest.ctx, ctx)) fail('malformed', { detail: 'closeRequest.ctx: not that of the path' });
      const answer = await watch.traces.step('close', { ctx, carrier: request.headers }, async () =>
        granted(await closeBuffer(authority, epochs, closeRequest)),
      );
      return sendBytes(reply, messages.closeAnswer.encode(answer));
    },
  );

  app.post(
    AUTHORITY_PATH.abort(':ctx'),
    {
      schema: {
        summary: 'Ends a buffer that can never have enough updates (server)',
        params: bufferParams,
        ...exchange('abortRequest', 'outcome'),
      },
    },
    async (request, reply) => {
      const ctx = ctxOfPath(request.params);
      const abortRequest = abortRequestCodec.decode(bytesOf(request));
      if (!equalBytes(abortRequest.ctx, ctx)) fail('malformed', { detail: 'abortRequest.ctx: not that of the path' });
      const outcome = await authority.step((core, now) => core.abort(abortRequest, now));
      return sendBytes(reply, outcomeCodec.encode(granted(outcome)));
    },
  );

  app.get(
    AUTHORITY_PATH.outcome(':ctx'),
    { schema: { summary: 'The outcome of a buffer', params: bufferParams, response: answers(wireBytes('outcome')) } },
    async (request, reply) => {
      const ctx = ctxOfPath(request.params);
      const outcome = await authority.ask((core, now) => core.outcome(ctx, now));
      return sendBytes(reply, outcomeCodec.encode(granted(outcome)));
    },
  );
}
