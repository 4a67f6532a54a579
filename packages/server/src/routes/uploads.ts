/** Uploads: the signed header decides before a byte of the body is read. */
import { equalBytes, fromHex } from '@basa/masking';
import {
  authorityMessages,
  HEADER,
  judgeHeader,
  millis,
  SERVER_PATH,
  type SecureBuffer,
  type UploadHeader,
} from '@basa/protocol';
import {
  answerRefusal,
  answers,
  BYTES_MEDIA_TYPE,
  checkDeclaredLength,
  deviceOf,
  type FastifyReply,
  fail,
  hexText,
  rememberRequest,
  type ServiceApp,
  ServiceError,
  Type,
} from '@basa/service';
import { layoutOf } from '../uploads/uploads.ts';
import { knownBuffer, type RouteContext } from './context.ts';

type Request = Parameters<typeof deviceOf>[0];

/** At most this much of a refused body is read before the connection ends. */
const MAX_READ_FOR_NOTHING = 8 * 1024 * 1024;

const params = Type.Object({ ctx: hexText(32), slot: Type.String({ pattern: '^[0-9]{1,4}$' }) });
type Params = Type.Static<typeof params>;
const received = Type.Object({ received: Type.Integer(), accepted: Type.Boolean() });

interface Judged {
  readonly buffer: SecureBuffer;
  readonly header: UploadHeader;
  readonly isAcceptedBefore: boolean;
}

export function mountUploads(context: RouteContext): void {
  const { service, uploads, tasks, nodes } = context;
  const judgedUploads = new WeakMap<Request, Judged>();
  const authorise = service.requireDevice({ body: 'streamed' });
  const onRequest = async (request: Request, reply: FastifyReply): Promise<void> => {
    try {
      await authorise(request);
      judgedUploads.set(request, await judge(context, request));
    } catch (error) {
      closeAfterLongBody(request, reply);
      throw error;
    }
  };
  const judgedOf = (request: Request): Judged => judgedUploads.get(request) ?? fail('internal');

  // Bodies of these routes are not read by a parser but by the route, block by block.
  service.app.register(async (scope) => {
    const app = scope as unknown as ServiceApp;
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(BYTES_MEDIA_TYPE, (_request, _payload, done) => done(null));

    const path = SERVER_PATH.upload(':ctx', ':slot');
    const putSchema = { summary: 'A piece of an upload (device)', params, response: answers(received) };
    app.put(path, { onRequest, schema: putSchema, bodyLimit: Number.MAX_SAFE_INTEGER }, async (request, reply) => {
      const upload = judgedOf(request);
      if (upload.isAcceptedBefore) return { received: layoutOf(upload).bodyBytes, accepted: true };
      const { raw } = request;
      try {
        const result = await uploads.take({
          ...upload,
          offset: offsetOf(request),
          declaredBytes: Number(request.headers['content-length'] ?? Number.NaN),
          digest: deviceOf(request).digest,
          body: raw,
        });
        const { ctx, descriptor } = upload.buffer;
        if (result.accepted) {
          tasks.uploaded(descriptor.task, ctx, deviceOf(request).user);
          nodes.tell.upload(descriptor.task, ctx);
        }
        return result;
      } catch (error) {
        if (raw.destroyed && !raw.complete) fail('interrupted');
        if (!(error instanceof ServiceError)) throw error;
        reply.header(HEADER.uploadOffset, await uploads.standing(upload));
        closeAfterLongBody(request, reply);
        throw error;
      }
    });
    const headSchema = { summary: 'Upload-Offset says how much of an upload is durable (device)', params };
    app.head(path, { onRequest, schema: headSchema }, async (request, reply) => {
      const upload = judgedOf(request);
      const standing = upload.isAcceptedBefore ? layoutOf(upload).bodyBytes : await uploads.standing(upload);
      return reply.header(HEADER.uploadOffset, standing).send();
    });
  });
}

/** Reads the rest of a refused body and throws it away, so that its sender hears the refusal; but not for ever. */
function closeAfterLongBody(request: Request, reply: FastifyReply): void {
  const bytes = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (request.method === 'PUT' && !request.raw.readableEnded && bytes > MAX_READ_FOR_NOTHING)
    reply.header('connection', 'close');
}

/** Late, unknown or unauthorised: refused here. */
async function judge(context: RouteContext, request: Request): Promise<Judged> {
  const { ctx, slot } = request.params as Params;
  if (!/^[0-9a-f]{64}$/.test(ctx)) fail('buffer-unknown');
  const known = await knownBuffer(context, ctx);
  const header = headerOf(request, known);
  if (header.slot !== Number(slot)) fail('malformed', { detail: `${HEADER.upload}: of another slot than the address` });
  const { buffer, verdict } = await judged(context, known, header);
  const holder = buffer.slots[header.slot];
  if (holder !== undefined && !equalBytes(holder.deviceKey, deviceOf(request).deviceKey)) fail('not-yours');
  if (verdict.kind === 'refused') answerRefusal(verdict);
  const isAcceptedBefore = verdict.kind === 'accepted-before';
  // An upload that was accepted before gets the same answer again: it stays in its sum.
  if (!isAcceptedBefore) await context.revocations.check(buffer.descriptor, deviceOf(request).user);
  rememberRequest(request);
  const { bodyBytes } = layoutOf({ buffer, header });
  if (request.method === 'PUT') checkDeclaredLength(request, Math.max(0, bodyBytes - offsetOf(request)));
  return { buffer, header, isAcceptedBefore };
}

/** A copy of this node may be old: a no is given by what the store holds, on the store's clock. */
async function judged({ ports, keeper, store, clock, nodes }: RouteContext, known: SecureBuffer, header: UploadHeader) {
  const verdict = judgeHeader(ports, known, header, millis(clock()));
  if (verdict.kind !== 'refused') return { buffer: known, verdict };
  return nodes.upToDate({ buffer: known, verdict }, async () => {
    const buffer = (await keeper.fresh(known.ctx)) ?? known;
    return { buffer, verdict: judgeHeader(ports, buffer, header, millis(await store.now())) };
  });
}

function headerOf(request: Request, { descriptor }: SecureBuffer): UploadHeader {
  const bytes = fromHex(String(request.headers[HEADER.upload] ?? ''));
  if (bytes === undefined || bytes.length === 0)
    fail('malformed', { detail: `${HEADER.upload}: missing or not hexadecimal` });
  return authorityMessages(descriptor.bufferSize).uploadHeader.decode(bytes);
}

function offsetOf(request: Request): number {
  const text = String(request.headers[HEADER.uploadOffset] ?? '0');
  if (!/^\d{1,15}$/.test(text)) fail('malformed', { detail: `${HEADER.uploadOffset}: not a number of bytes` });
  return Number(text);
}
