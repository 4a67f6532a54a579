/** A place to train, and the model versions that a device trains on. */
import { Readable } from 'node:stream';
import { toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { Certificate, ShownModel } from '@basa/protocol/wire';
import { answers, BYTES_MEDIA_TYPE, bytesOf, deviceOf, fail, rememberRequest, Type, wireBytes } from '@basa/service';
import type { RunningTask } from '../tasks/running-task.ts';
import {
  cacheOf,
  checkMember,
  foundTask,
  type Readers,
  type RouteContext,
  taskParams,
  versionParams,
} from './context.ts';

const ASK_AGAIN_MS = 2_000;

/** Serves model versions to the readers of their task: they never change, have ETag and Range, and come directly from the blob store. */
export function mountModels(context: RouteContext, { require: onRequest }: Readers): void {
  const { service, store, blobs } = context;
  const { app } = service;

  const newestSchema = {
    summary: 'The newest model, signed by the server, and the open epochs of the authorities (reader)',
    params: taskParams,
    response: answers(wireBytes('shownModel')),
  };
  app.get(SERVER_PATH.newestModel(':task'), { onRequest, schema: newestSchema }, async ({ params }, reply) => {
    const task = await foundTask(context, params.task);
    const shown = await newestModel(task);
    reply.header('cache-control', cacheOf(task)).type(BYTES_MEDIA_TYPE);
    return reply.send(Buffer.from(ShownModel.encode(shown)));
  });

  const modelSchema = {
    summary: 'The parameters of a version; ETag, Range (reader)',
    params: versionParams,
    response: answers(wireBytes('little-endian float32 parameters')),
  };
  app.get(SERVER_PATH.model(':task', ':version'), { onRequest, schema: modelSchema }, async (request, reply) => {
    const task = await foundTask(context, request.params.task);
    const model = await store.model(task.task, Number(request.params.version));
    if (model === undefined) fail('not-found', { detail: 'this version does not exist' });
    if (model.isForgotten) fail('not-found', { detail: 'the parameters of this version were deleted' });
    context.live.fetched(request.params.task, model.version);
    const etag = `"${toHex(model.modelHash)}"`;
    // For the version itself, not for a refusal.
    const lasting = {
      etag,
      'accept-ranges': 'bytes',
      'cache-control': `${cacheOf(task)}, max-age=31536000, immutable`,
    };
    if (isNamed(request.headers['if-none-match'], etag)) return reply.code(304).headers(lasting).send(new Uint8Array());
    const size = await blobs.size(model.blobKey);
    if (size === undefined) throw new Error(`the blob of version ${model.version} is missing`);
    const { range: asked, 'if-range': ifRange } = request.headers;
    const range = ifRange === undefined || ifRange === etag ? rangeOf(asked, size) : undefined;
    if (range === 'unsatisfiable') {
      reply.header('content-range', `bytes */${size}`);
      fail('range-not-satisfiable', { detail: `the model has ${size} bytes` });
    }
    const [start, end] = range ?? [0, size];
    if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
    reply
      .headers(lasting)
      .type(BYTES_MEDIA_TYPE)
      .header('content-length', end - start);
    const body = Readable.from(copies(blobs.read(model.blobKey, start, end)), { objectMode: false });
    return reply.send(body as unknown as Uint8Array); // the schema expects bytes, but they are sent as a stream
  });
}

/** The message for devices; refused while too few authorities are heard from, because nothing that a device gives could be summed. */
async function newestModel({ models, mode, read }: RunningTask): Promise<ShownModel> {
  if ((await models.current()) === undefined) await models.open();
  const { newest } = models;
  if (newest === undefined) throw new Error('a task without version 0');
  const epochs = (await mode.shots?.epochs.current()) ?? [];
  const authorities = new Set(epochs.map(({ authority }) => authority)).size;
  const { oneShot, threshold } = read.policy;
  if (oneShot !== undefined && authorities < threshold)
    fail('authority-unreachable', {
      detail: `${authorities} of ${threshold} authorities have listed their epochs recently`,
      retryAfterMs: ASK_AGAIN_MS,
    });
  return { statement: models.statementOf(newest), epochs };
}

/** The model that is sent with a place, so that a device need not ask for it. */
async function modelWithPlace(task: RunningTask): Promise<{ readonly model?: string }> {
  if (task.mode.shots === undefined) return {};
  return { model: toHex(ShownModel.encode(await newestModel(task))) };
}

/** True if a list of entity tags (RFC 9110) names this one. */
function isNamed(list: string | undefined, etag: string): boolean {
  const tags = (list ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

/** A stream keeps its chunks, but the store reuses its block, so they are copied. */
async function* copies(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) yield piece.slice();
}

/** One range of bytes, as start and end; a header of another kind is ignored, as RFC 9110 allows. */
function rangeOf(header: string | undefined, size: number): readonly [number, number] | 'unsatisfiable' | undefined {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  const [start, end] =
    from === ''
      ? [Math.max(0, size - Number(to)), size]
      : [Number(from), to === '' ? size : Math.min(size, Number(to) + 1)];
  return start < end && start < size ? [start, end] : 'unsatisfiable';
}

/** A device asks for a place to train, or gives it back. */
export function mountAdmissions(context: RouteContext): void {
  const { service } = context;
  const { app } = service;
  const onRequest = service.requireDevice();

  const admissionSchema = {
    summary: 'A place to train, which a device requests before it downloads the model (device)',
    params: taskParams,
    body: wireBytes('certificate'),
    response: answers(
      Type.Object({
        endsInMs: Type.Integer(),
        model: Type.Optional(Type.String({ description: 'the newest model (shownModel), in hexadecimal digits' })),
      }),
    ),
  };
  app.post(
    SERVER_PATH.admissions(':task'),
    { onRequest, schema: admissionSchema, config: { begins: true } },
    async (request) => {
      const task = await foundTask(context, request.params.task);
      const { user } = deviceOf(request);
      await checkMember(context, task, request, Certificate.decode(bytesOf(request)));
      // Only devices of the task count: others could use up its share with keys that cost nothing.
      const wait = context.taskLimits?.take(request.params.task, user, context.clock());
      if (wait !== undefined)
        fail('rate-limited', { ...wait, detail: 'the devices of this task ask for places too often' });
      rememberRequest(request);
      const model = await modelWithPlace(task);
      const { leftMs } = await task.admit(user);
      return { endsInMs: Math.floor(leftMs), ...model };
    },
  );

  const discardSchema = {
    summary: 'Gives back an unused place (device)',
    params: taskParams,
    response: answers(Type.Object({})),
  };
  app.delete(SERVER_PATH.admissions(':task'), { onRequest, schema: discardSchema }, async (request) => {
    const task = await foundTask(context, request.params.task);
    await task.admission.discard(deviceOf(request).user);
    return {};
  });
}
