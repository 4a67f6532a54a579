/** The one-shot mode over HTTP: the only message of a device, which may come in pieces, and its status. */
import { equalBytes, fromHex, toHex } from '@basa/masking';
import { type Ctx, isRefused, type Refused, refused } from '@basa/protocol';
import { HEADER, SERVER_PATH } from '@basa/protocol/http';
import { ShotUpload } from '@basa/protocol/wire';
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
  type Service,
  type ServiceApp,
  ServiceError,
  Type,
} from '@basa/service';
import { checkRevoked } from '../authority/authorities.ts';
import type { NewShot } from '../shots/intake.ts';
import type { ShotFate, ShotTask } from '../shots/shot-task.ts';
import type { StoredShot } from '../store/shots.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import type { PieceRequest, Received } from '../uploads/bodies.ts';
import { type Body, comesAtOnce } from '../uploads/body.ts';
import { foundTask, type RouteContext, taskParams } from './context.ts';

const params = Type.Object({ ...taskParams.properties, upload: hexText(32, 'the name of an upload') });
type Params = Type.Static<typeof params>;

const FATES: readonly ShotFate['fate'][] = ['waiting', 'included', 'quarantined', 'refused', 'version-over', 'unknown'];
const fate = Type.Object({
  fate: Type.Unsafe<ShotFate['fate']>({ enum: FATES }),
  ctx: Type.Optional(hexText(32)),
  version: Type.Optional(Type.Integer()),
  reason: Type.Optional(Type.String()),
});

/** The one-shot mode: the only message of a device, and its status. */
export function mountShots(context: RouteContext): void {
  const { app } = context.service;
  mountPieces(context.service, {
    path: SERVER_PATH.shot(':task', ':upload'),
    params,
    summary: 'One-shot: a piece of the upload of a device (device)',
    judge: (request) => judge(context, request),
  });

  const fateSchema = {
    summary: 'One-shot: the status of an upload according to the server',
    params,
    response: answers(fate),
  };
  app.get(SERVER_PATH.shotFate(':task', ':upload'), { schema: fateSchema }, async (request) => {
    const task = await foundTask(context, request.params.task);
    const found = await shotsOf(task).fateOf(fromHex(request.params.upload) as Ctx);
    if (found === undefined) fail('not-found', { detail: 'this upload does not exist here' });
    const { ctx, ...rest } = found;
    return { ...rest, ...(ctx !== undefined && { ctx: toHex(ctx) }) };
  });
}

function shotsOf({ mode }: RunningTask): ShotTask {
  return mode.shots ?? fail('not-found', { detail: 'this task does not use one-shot mode' });
}

async function judge(context: RouteContext, request: PieceOfRequest): Promise<JudgedUpload> {
  const { task: taskName, upload: uploadName } = request.params as Params;
  if (!/^[0-9a-f]{64}$/.test(uploadName)) fail('malformed', { detail: 'upload: not the name of an upload' });
  const name = fromHex(uploadName) as Ctx;
  const task = await foundTask(context, taskName);
  const { intake } = shotsOf(task);
  const upload = ShotUpload.decode(headerBytesOf(request));
  const { deviceKey, user } = deviceOf(request);
  // Its user as well: otherwise a key without a certificate could end the place of a device, or write into its upload.
  const isOwn = equalBytes(upload.certificate.deviceKey, deviceKey) && equalBytes(upload.header.user, user);
  if (!isOwn) fail('not-yours');
  const known = await intake.known(name, upload);
  const fresh = known === undefined ? await judgeNew(context, task, { name, upload }) : undefined;
  if (fresh !== undefined && isAtOnce(request, intake.bodyOf(fresh))) {
    rememberRequest(request);
    return smallUpload(context, task, fresh);
  }
  // An upload that was started before gets the same answer again, unless it can no longer be used.
  const shot = known ?? (await orDiscarded(task, upload, await intake.begin(fresh as NewShot)));
  rememberRequest(request);
  return judgedUpload(context, task, possible(shot));
}

async function judgeNew(
  context: RouteContext,
  task: RunningTask,
  { name, upload }: Pick<NewShot, 'name' | 'upload'>,
): Promise<NewShot> {
  const { user } = upload.header;
  task.checkRunning();
  await checkRevoked(context.store, task.read.policy, user);
  const judged = await orDiscarded(task, upload, await shotsOf(task).intake.judge(upload));
  const over = await task.admission.versionOver(user, judged.version);
  return { name, upload, ...(await orDiscarded(task, upload, over ?? judged)) };
}

/** The place of a device whose upload is refused is used up. */
async function orDiscarded<Judged>(
  { admission }: RunningTask,
  { header }: ShotUpload,
  judged: Judged | Refused,
): Promise<Judged> {
  if (!isRefused(judged)) return judged;
  await admission.discard(header.user);
  return answerRefusal(judged);
}

/** Ends the request if nothing can come of the upload any more. */
function possible(shot: StoredShot): StoredShot {
  return shot.reason === undefined ? shot : answerRefusal(refused(shot.reason));
}

/** Then nothing is recorded before all of it is here. */
function isAtOnce(request: PieceOfRequest, body: Body): boolean {
  return (
    request.method === 'PUT' &&
    comesAtOnce(body, { offset: offsetOf(request), declaredBytes: declaredBytesOf(request) })
  );
}

function smallUpload(context: RouteContext, task: RunningTask, shot: NewShot): JudgedUpload {
  const shots = shotsOf(task);
  const body = shots.intake.bodyOf(shot);
  return {
    bodyBytes: body.layout.bodyBytes,
    isAcceptedBefore: false,
    standing: async () => 0,
    async take(piece) {
      const result = await context.bodies.takeSmall(body, piece, async (small) => {
        possible(await orDiscarded(task, shot.upload, await shots.take(shot, small)));
      });
      tellTaken(context, task, shot);
      return result;
    },
  };
}

function judgedUpload({ bodies, ...context }: RouteContext, task: RunningTask, shot: StoredShot): JudgedUpload {
  const shots = shotsOf(task);
  const body = shots.intake.bodyOf(shot);
  return {
    bodyBytes: body.layout.bodyBytes,
    isAcceptedBefore: shot.status !== 'arriving',
    standing: () => bodies.standing(body),
    async take(piece) {
      const result = await bodies.take(body, piece, async () => {
        const ended = await shots.accept(shot);
        if (ended !== undefined) answerRefusal(ended);
      });
      if (result.accepted) tellTaken(context, task, shot);
      return result;
    },
  };
}

function tellTaken({ nodes }: Pick<RouteContext, 'nodes'>, task: RunningTask, { upload }: NewShot): void {
  task.admission.gave(upload.header.user);
  task.uploaded();
  nodes.tell('upload', task.task);
}

type PieceOfRequest = Parameters<typeof deviceOf>[0];

/** An upload with a valid header. */
interface JudgedUpload {
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

/** Bodies that come in pieces: the signed header decides before a byte is read, and the route reads block by block. */
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
function headerBytesOf(request: PieceOfRequest): Uint8Array {
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
function declaredBytesOf(request: PieceOfRequest): number {
  return Number(request.headers['content-length'] ?? 0);
}

/** The device signed it. */
function offsetOf(request: PieceOfRequest): number {
  return Number(request.headers[HEADER.uploadOffset] ?? 0);
}
