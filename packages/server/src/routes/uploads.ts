/** Uploads: the signed header decides before a byte of the body is read. */
import { equalBytes, fromHex } from '@basa/masking';
import type { SecureBuffer, UploadHeader } from '@basa/protocol';
import { authorityMessages, HEADER, judgeHeader, millis, SERVER_PATH, uploadLayout } from '@basa/protocol';
import type { ServiceApp } from '@basa/service';
import { answerRefusal, answers, BYTES_MEDIA_TYPE, deviceOf, fail, hexText, ServiceError, Type } from '@basa/service';
import { sealedBytesOf } from '../buffer-keeper.ts';
import type { RouteContext } from './context.ts';
import { foundBuffer } from './context.ts';

type Request = Parameters<typeof deviceOf>[0];

const params = Type.Object({ ctx: hexText(32), slot: Type.String({ pattern: '^[0-9]{1,4}$' }) });
type Params = Type.Static<typeof params>;
const received = Type.Object({ received: Type.Integer(), accepted: Type.Boolean() });

interface Judged {
  readonly buffer: SecureBuffer;
  readonly header: UploadHeader;
  readonly isAcceptedBefore: boolean;
}

export function mountUploads(context: RouteContext): void {
  const { service, uploads, tasks } = context;
  const judgedUploads = new WeakMap<Request, Judged>();
  const authorise = service.requireDevice({ body: 'streamed' });
  const onRequest = async (request: Request): Promise<void> => {
    await authorise(request);
    judgedUploads.set(request, await judge(context, request));
  };
  const judged = (request: Request): Judged => judgedUploads.get(request) ?? fail('internal');

  // Bodies of these routes are not read by a parser but by the route, block by block.
  service.app.register(async (scope) => {
    const app = scope as unknown as ServiceApp;
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(BYTES_MEDIA_TYPE, (_request, _payload, done) => done(null));

    const path = SERVER_PATH.upload(':ctx', ':slot');
    const putSchema = { params, response: answers(received) };
    app.put(path, { onRequest, schema: putSchema, bodyLimit: Number.MAX_SAFE_INTEGER }, async (request, reply) => {
      const { buffer, header, isAcceptedBefore } = judged(request);
      if (isAcceptedBefore) return { received: bodyBytesOf(buffer, header), accepted: true };
      const offset = offsetOf(request);
      try {
        const { digest } = deviceOf(request);
        const result = await uploads.take({ buffer, header, offset, digest, bytes: request.raw });
        if (result.accepted) tasks.uploaded(buffer.descriptor.task, buffer.ctx);
        return result;
      } catch (error) {
        if (error instanceof ServiceError) {
          reply.header(HEADER.uploadOffset, await uploads.received(buffer.ctx, header.slot));
          // The rest of the body would be read for nothing.
          if (!request.raw.readableEnded) reply.header('connection', 'close');
        }
        throw error;
      }
    });
    app.head(path, { onRequest, schema: { params } }, async (request, reply) => {
      const { buffer, header, isAcceptedBefore } = judged(request);
      const standing = isAcceptedBefore ? bodyBytesOf(buffer, header) : await uploads.received(buffer.ctx, header.slot);
      return reply.header(HEADER.uploadOffset, standing).send();
    });
  });
}

/** Late, unknown or unauthorised: refused here. */
async function judge(context: RouteContext, request: Request): Promise<Judged> {
  const { ctx, slot } = request.params as Params;
  if (!/^[0-9a-f]{64}$/.test(ctx)) fail('buffer-unknown');
  const buffer = await foundBuffer(context, ctx);
  const header = headerOf(request, buffer);
  if (header.slot !== Number(slot)) fail('malformed', { detail: `${HEADER.upload}: of another slot than the address` });
  const holder = buffer.slots[header.slot];
  if (holder !== undefined && !equalBytes(holder.deviceKey, deviceOf(request).deviceKey)) fail('not-yours');
  const verdict = judgeHeader(context.ports, buffer, header, millis(context.clock()));
  if (verdict.kind === 'refused') answerRefusal(verdict);
  return { buffer, header, isAcceptedBefore: verdict.kind === 'accepted-before' };
}

function headerOf(request: Request, { descriptor }: SecureBuffer): UploadHeader {
  const bytes = fromHex(String(request.headers[HEADER.upload] ?? ''));
  if (bytes === undefined || bytes.length === 0)
    fail('malformed', { detail: `${HEADER.upload}: missing or not hexadecimal` });
  return authorityMessages(descriptor.bufferSize).uploadHeader.decode(bytes);
}

function bodyBytesOf({ descriptor }: SecureBuffer, header: UploadHeader): number {
  return uploadLayout(descriptor, header, { sealedBytes: sealedBytesOf(descriptor.engine) }).bodyBytes;
}

function offsetOf(request: Request): number {
  const text = String(request.headers[HEADER.uploadOffset] ?? '0');
  if (!/^\d{1,15}$/.test(text)) fail('malformed', { detail: `${HEADER.uploadOffset}: not a number of bytes` });
  return Number(text);
}
