/** The one-shot mode: the only message of a device, and its status. */
import { equalBytes, fromHex, toHex } from '@basa/masking';
import {
  type Ctx,
  isRefused,
  type Refused,
  refused,
  SERVER_PATH,
  type ShotUpload,
  shotUploadCodec,
} from '@basa/protocol';
import { answerRefusal, answers, deviceOf, fail, hexText, rememberRequest, Type } from '@basa/service';
import type { NewShot } from '../shots/intake.ts';
import type { ShotFate, ShotTask } from '../shots/shot-task.ts';
import type { StoredShot } from '../store/shots.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import { type Body, comesAtOnce } from '../uploads/body.ts';
import { foundTask, type RouteContext, taskParams } from './context.ts';
import {
  declaredBytesOf,
  headerBytesOf,
  type JudgedUpload,
  mountPieces,
  offsetOf,
  type PieceOfRequest,
} from './pieces.ts';

const params = Type.Object({ ...taskParams.properties, upload: hexText(32, 'the name of an upload') });
type Params = Type.Static<typeof params>;

const FATES: readonly ShotFate['fate'][] = ['waiting', 'included', 'quarantined', 'refused', 'version-over', 'unknown'];
const fate = Type.Object({
  fate: Type.Unsafe<ShotFate['fate']>({ enum: FATES }),
  ctx: Type.Optional(hexText(32)),
  version: Type.Optional(Type.Integer()),
  reason: Type.Optional(Type.String()),
});

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
  const upload = shotUploadCodec.decode(headerBytesOf(request));
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
  await context.revocations.check(task.read.policy, user);
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

function tellTaken({ nodes }: Pick<RouteContext, 'nodes'>, task: RunningTask, { name, upload }: NewShot): void {
  task.admission.gave(upload.header.user);
  task.uploaded(name);
  nodes.tell.upload(task.task, name);
}
