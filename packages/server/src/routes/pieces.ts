/** Bodies that come in pieces: the signed header decides before a byte is read, and the route reads block by block. */
import { fromHex } from '@basa/masking';
import { HEADER } from '@basa/protocol';
import {
  answers,
  BYTES_MEDIA_TYPE,
  checkDeclaredLength,
  deviceOf,
  type FastifyReply,
  fail,
  type Service,
  type ServiceApp,
  ServiceError,
  Type,
} from '@basa/service';
import type { PieceRequest, Received } from '../uploads/bodies.ts';

export type PieceOfRequest = Parameters<typeof deviceOf>[0];

/** An upload with a valid header. */
export interface JudgedUpload {
  readonly bodyBytes: number;
  /** It was accepted already: its bytes are not read again. */
  readonly isAcceptedBefore: boolean;
  take(piece: PieceRequest): Promise<Received>;
  standing(): Promise<number>;
}

export interface PieceRoute {
  readonly path: string;
  readonly params: Type.TObject;
  readonly summary: string;
  /** Throws the answer to an upload that is late, unknown or unauthorised. */
  judge(request: PieceOfRequest): Promise<JudgedUpload>;
}

/** At most this much of a refused body is read before the connection ends. */
const MAX_READ_FOR_NOTHING = 8 * 1024 * 1024;
const received = Type.Object({ received: Type.Integer(), accepted: Type.Boolean() });

export function mountPieces(service: Service, { path, params, summary, judge }: PieceRoute): void {
  const judged = new WeakMap<PieceOfRequest, JudgedUpload>();
  const authorise = service.requireDevice({ body: 'pieces' });
  const onRequest = async (request: PieceOfRequest, reply: FastifyReply): Promise<void> => {
    try {
      await authorise(request);
      const upload = await judge(request);
      if (request.method === 'PUT') checkDeclaredLength(request, Math.max(0, upload.bodyBytes - offsetOf(request)));
      judged.set(request, upload);
    } catch (error) {
      closeAfterLongBody(request, reply);
      throw error;
    }
  };
  const judgedOf = (request: PieceOfRequest): JudgedUpload => judged.get(request) ?? fail('internal');

  // The route reads the bodies of these routes block by block, without a parser.
  service.app.register(async (scope) => {
    const app = scope as unknown as ServiceApp;
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(BYTES_MEDIA_TYPE, (_request, _payload, done) => done(null));

    const putSchema = { summary, params, response: answers(received) };
    // The training behind an upload must not be lost.
    const config = { completes: true } as const;
    const putOptions = { onRequest, schema: putSchema, config, bodyLimit: Number.MAX_SAFE_INTEGER };
    app.put(path, putOptions, async (request, reply) => {
      const upload = judgedOf(request);
      if (upload.isAcceptedBefore) return { received: upload.bodyBytes, accepted: true };
      const { raw } = request;
      try {
        return await upload.take({
          offset: offsetOf(request),
          declaredBytes: declaredBytesOf(request),
          crc: deviceOf(request).crc,
          body: raw,
        });
      } catch (error) {
        if (raw.destroyed && !raw.complete) fail('interrupted');
        if (!(error instanceof ServiceError)) throw error;
        reply.header(HEADER.uploadOffset, await upload.standing());
        closeAfterLongBody(request, reply);
        throw error;
      }
    });
    const headSchema = { summary: 'The durable length of an upload, in the header Upload-Offset (device)', params };
    app.head(path, { onRequest, schema: headSchema }, async (request, reply) => {
      const upload = judgedOf(request);
      const standing = upload.isAcceptedBefore ? upload.bodyBytes : await upload.standing();
      return reply.header(HEADER.uploadOffset, standing).send();
    });
  });
}

/** The bytes of the signed header before the body. */
export function headerBytesOf(request: PieceOfRequest): Uint8Array {
  const bytes = fromHex(String(request.headers[HEADER.upload] ?? ''));
  if (bytes === undefined || bytes.length === 0)
    fail('malformed', { detail: `${HEADER.upload}: missing or not hexadecimal` });
  return bytes;
}

/** Reads and discards the rest of a refused body for a limited time, so that its sender receives the refusal. */
function closeAfterLongBody(request: PieceOfRequest, reply: FastifyReply): void {
  const bytes = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (request.method === 'PUT' && !request.raw.readableEnded && bytes > MAX_READ_FOR_NOTHING)
    reply.header('connection', 'close');
}

/** The device signed it. */
export function declaredBytesOf(request: PieceOfRequest): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** The device signed it. */
export function offsetOf(request: PieceOfRequest): number {
  return Number(request.headers[HEADER.uploadOffset] ?? 0);
}
