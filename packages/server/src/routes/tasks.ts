/** Tasks: made, looked at, paused and resumed. */

import { decodeDataset, ModelFileError } from '@basa/learning';
import { toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol';
import { answers, bytesOf, closed, fail, hexText, Type } from '@basa/service';
import type { RunningTask } from '../running-task.ts';
import { taskSpecificationSchema } from '../task-specification.ts';
import type { RouteContext } from './context.ts';
import { foundTask, taskParams } from './context.ts';

const MOST_SPECIFICATION_BYTES = 64 * 1024 * 1024;
const MOST_EXAMPLES_BYTES = 1024 * 1024 * 1024;

const taskState = Type.Object({
  task: hexText(32),
  name: Type.String(),
  policy: Type.String(),
  mode: Type.String(),
  state: Type.String(),
  why: Type.Optional(Type.String()),
  version: Type.Optional(Type.Integer()),
  accuracy: Type.Optional(Type.Number()),
  loss: Type.Optional(Type.Number()),
  model: Type.Optional(Type.Unknown()),
  training: Type.Optional(Type.Unknown()),
  buffers: Type.Integer(),
});

const versions = Type.Object({
  versions: Type.Array(
    Type.Object({
      version: Type.Integer(),
      at: Type.Integer(),
      ctx: hexText(32),
      accepted: Type.Integer(),
      dropped: Type.Integer(),
      accuracy: Type.Optional(Type.Number()),
      loss: Type.Optional(Type.Number()),
    }),
  ),
});

export function mountTasks(context: RouteContext): void {
  const { service, tasks, store, blobs } = context;
  const { app } = service;
  const onRequest = service.requireRole('operator');

  const created = { body: taskSpecificationSchema, response: answers(taskState) };
  const creation = { onRequest, bodyLimit: MOST_SPECIFICATION_BYTES, schema: created };
  app.post(SERVER_PATH.tasks, creation, async ({ body }) => {
    if (body.mode === 'paper' && !context.unsafePaperMode)
      fail('policy-invalid', { detail: 'mode paper needs the option unsafePaperMode of the server' });
    return describe(await tasks.create(body));
  });
  const list = Type.Object({ tasks: Type.Array(taskState) });
  app.get(SERVER_PATH.tasks, { schema: { response: answers(list) } }, async () => ({ tasks: tasks.all.map(describe) }));
  const one = { params: taskParams, response: answers(taskState) };
  app.get(SERVER_PATH.task(':task'), { schema: one }, async ({ params }) => describe(foundTask(context, params.task)));

  const wanted = Type.Object({ state: Type.Union([Type.Literal('running'), Type.Literal('paused')]) }, closed);
  const changed = { params: taskParams, body: wanted, response: answers(taskState) };
  app.put(SERVER_PATH.taskState(':task'), { onRequest, schema: changed }, async ({ params, body }) => {
    const task = foundTask(context, params.task);
    if (task.state === 'finished') fail('task-finished', { detail: task.why ?? '' });
    await task.setState(body.state);
    return describe(task);
  });

  const examples = { params: taskParams, response: answers(Type.Object({ samples: Type.Integer() })) };
  const setExamples = { onRequest, bodyLimit: MOST_EXAMPLES_BYTES, schema: examples };
  app.put(SERVER_PATH.evaluationSet(':task'), setExamples, async (request) => {
    const task = foundTask(context, request.params.task);
    const bytes = bytesOf(request);
    const samples = readExamples(bytes);
    await blobs.put(task.examplesKey(), bytes);
    const version = task.models.newest?.version;
    if (version !== undefined) await task.evaluate(version);
    await task.models.refresh();
    return { samples };
  });

  const metrics = { params: taskParams, response: answers(versions) };
  app.get(SERVER_PATH.taskMetrics(':task'), { schema: metrics }, async ({ params }) => {
    const { task } = foundTask(context, params.task);
    const models = (await store.models(task)).filter(({ entry }) => entry !== undefined);
    return {
      versions: models.map(({ version, madeAt, ctx, accepted, dropped, accuracy, loss }) => ({
        version,
        at: madeAt,
        ctx: toHex(ctx),
        accepted,
        dropped,
        ...(accuracy !== undefined && { accuracy }),
        ...(loss !== undefined && { loss }),
      })),
    };
  });
}

function readExamples(bytes: Uint8Array): number {
  try {
    return decodeDataset(bytes).labels.length;
  } catch (error) {
    if (error instanceof ModelFileError) fail('malformed', { detail: error.message });
    throw error;
  }
}

function describe({ task, read, state, why, models, living }: RunningTask) {
  const { newest } = models;
  const { specification, policy, mode } = read;
  return {
    task: toHex(task),
    name: String.fromCharCode(...policy.name),
    policy: specification.policy,
    mode,
    state,
    buffers: living.length,
    ...(why !== undefined && { why }),
    ...(newest !== undefined && { version: newest.version }),
    ...(newest?.accuracy !== undefined && { accuracy: newest.accuracy }),
    ...(newest?.loss !== undefined && { loss: newest.loss }),
    ...(specification.model !== undefined && { model: specification.model }),
    ...(specification.training !== undefined && { training: specification.training }),
  };
}
