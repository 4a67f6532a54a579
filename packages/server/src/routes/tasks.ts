/** Tasks: created, shown, paused, resumed, ended and removed. */
import { toHex } from '@basa/masking';
import { Live, SERVER_PATH } from '@basa/protocol/http';
import { Privacy, type TaskPolicy } from '@basa/protocol/policy';
import { answers, bytesOf, closed, fail, hexText, Type, wireBytes } from '@basa/service';
import { taskSpecificationSchema } from '../specification/task-specification.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import {
  askingAuthority,
  cacheOf,
  foundTask,
  type Readers,
  type RouteContext,
  taskParams,
  versionParams,
} from './context.ts';

export const MAX_SPECIFICATION_BYTES = 64 * 1024 * 1024;
export const MAX_EXAMPLES_BYTES = 1024 * 1024 * 1024;
export const MAX_FIRST_BYTES = 1024 * 1024 * 1024;

/** JSON has words for numbers that are infinite here. */
const score = Type.Number({ minimum: -1e300, maximum: 1e300 });
const operatorScore = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9 _.-]{0,31}$' }),
    score,
    loss: Type.Optional(score),
  },
  closed,
);
const scores = {
  accuracy: Type.Optional(Type.Number()),
  r2: Type.Optional(Type.Number()),
  evaluation: Type.Optional(operatorScore),
};

const taskState = Type.Object({
  task: hexText(32),
  name: Type.String(),
  policy: Type.String(),
  mode: Type.String(),
  state: Type.String(),
  why: Type.Optional(Type.String()),
  publicModels: Type.Boolean({ description: 'everybody may read its models and results' }),
  version: Type.Optional(Type.Integer()),
  ...scores,
  loss: Type.Optional(Type.Number()),
  model: Type.Optional(Type.Unknown()),
  batches: Type.Integer(),
  gathered: Type.Integer({ description: 'updates on the newest version that are in no batch' }),
  admission: Type.Object({
    places: Type.Integer(),
    used: Type.Integer(),
    underWay: Type.Integer(),
    waiting: Type.Integer(),
    waitingBatches: Type.Integer(),
  }),
  meanAge: Type.Optional(Type.Number()),
  metrics: Type.Optional(Type.Record(Type.String(), Type.Number())),
  privacy: Type.Optional(
    Type.Object({
      noiseMultiplier: Type.Number(),
      colluders: Type.Integer(),
      by: Type.Union([Type.Literal('devices'), Type.Literal('authority')]),
      participations: Type.Optional(Type.Integer()),
      delta: Type.Optional(Type.Number()),
      epsilon: Type.Optional(Type.Number()),
    }),
  ),
});

const versions = Type.Object({
  versions: Type.Array(
    Type.Object({
      version: Type.Integer(),
      at: Type.Integer(),
      sums: Type.Array(hexText(32)),
      spoilt: Type.Array(hexText(32)),
      accepted: Type.Integer(),
      dropped: Type.Integer(),
      meanAge: Type.Optional(Type.Number()),
      metrics: Type.Optional(Type.Record(Type.String(), Type.Number())),
      ...scores,
      loss: Type.Optional(Type.Number()),
    }),
  ),
});

export function mountTasks(context: RouteContext, readers: Readers): void {
  const { live, nodes, service, tasks, store } = context;
  const { app } = service;
  const onRequest = service.requireRole('operator');

  const createdSchema = {
    summary: 'Creates a task (operator)',
    body: taskSpecificationSchema,
    response: answers(taskState),
  };
  const firstSchema = {
    summary: 'Keeps the first parameters of a task, which is created next with their SHA-256 (operator)',
    body: wireBytes('little-endian float32 parameters'),
    response: answers(Type.Object({ sha256: hexText(32) })),
  };
  const first = { onRequest, bodyLimit: MAX_FIRST_BYTES, schema: firstSchema };
  app.put(SERVER_PATH.firstParameters, first, async (request) => ({
    sha256: await tasks.keepFirst(bytesOf(request)),
  }));
  const creation = { onRequest, bodyLimit: MAX_SPECIFICATION_BYTES, schema: createdSchema };
  app.post(SERVER_PATH.tasks, creation, async ({ body }) => {
    if (body.mode === 'paper' && !context.unsafePaperMode)
      fail('policy-invalid', { detail: 'the mode paper needs unsafePaperMode in the configuration of the server' });
    return describe(await created(() => tasks.create(body)));
  });
  const list = Type.Object({ tasks: Type.Array(taskState) });
  const all = { summary: 'All tasks; results are for readers', response: answers(list) };
  app.get(SERVER_PATH.tasks, { schema: all }, async (request) => {
    const hasToken = await readers.hasToken(request);
    return { tasks: await Promise.all(tasks.all.map((task) => describe(task, hasToken || task.hasPublicModels))) };
  });
  const one = { summary: 'A task; results are for readers', params: taskParams, response: answers(taskState) };
  app.get(SERVER_PATH.task(':task'), { schema: one }, async (request) => {
    const task = await foundTask(context, request.params.task);
    return describe(task, await readers.mayRead(request, task));
  });

  const wanted = Type.Object(
    { state: Type.Union([Type.Literal('running'), Type.Literal('paused'), Type.Literal('finished')]) },
    closed,
  );
  const changed = {
    summary: 'Pauses or resumes a task, or finishes it for good (operator)',
    params: taskParams,
    body: wanted,
    response: answers(taskState),
  };
  app.put(SERVER_PATH.taskState(':task'), { onRequest, schema: changed }, async ({ params, body }) => {
    const task = await foundTask(context, params.task);
    if (task.state === 'finished' && body.state === 'finished') return describe(task);
    if (task.state === 'finished') fail('task-finished', { detail: task.why ?? '' });
    await task.setState(body.state, body.state === 'finished' ? 'an operator finished it' : undefined);
    return describe(task);
  });
  const removed = {
    summary: 'Deletes a finished task with its models (operator)',
    params: taskParams,
    response: answers(
      Type.Object({
        removed: Type.Literal(true),
        rows: Type.Record(Type.String(), Type.Integer(), { description: 'number of deleted rows, by table' }),
      }),
    ),
  };
  app.delete(SERVER_PATH.task(':task'), { onRequest, schema: removed }, async ({ params }) => {
    const rows = await tasks.remove(await foundTask(context, params.task));
    return { removed: true as const, rows };
  });

  const examples = {
    summary: 'Held-out examples to evaluate versions on (operator)',
    params: taskParams,
    body: wireBytes('safetensors with inputs and labels'),
    response: answers(Type.Object({ samples: Type.Integer() })),
  };
  const setExamples = { onRequest, bodyLimit: MAX_EXAMPLES_BYTES, schema: examples };
  app.put(SERVER_PATH.evaluationSet(':task'), setExamples, async (request) => {
    const task = await foundTask(context, request.params.task);
    return { samples: await task.evaluation.setExamples(bytesOf(request)) };
  });

  const evaluated = {
    summary: "Stores the operator's own score of a version, in place of an earlier one (operator)",
    params: versionParams,
    body: operatorScore,
    response: answers(operatorScore),
  };
  app.put(SERVER_PATH.evaluation(':task', ':version'), { onRequest, schema: evaluated }, async ({ params, body }) => {
    const { task, models } = await foundTask(context, params.task);
    const version = Number(params.version);
    if ((await store.model(task, version)) === undefined) fail('not-found', { detail: 'this version does not exist' });
    await store.setOperatorScore(task, version, body);
    await models.refresh();
    nodes.tell('task', task);
    live.changed();
    return body;
  });

  const metrics = {
    summary: 'The versions from this one on, or all, with the sums that they contain (reader)',
    params: taskParams,
    querystring: Type.Object({ from: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })) }),
    response: answers(versions),
  };
  const reading = { onRequest: readers.require, schema: metrics };
  app.get(SERVER_PATH.taskMetrics(':task'), reading, async ({ params, query }, reply) => {
    const running = await foundTask(context, params.task);
    const { task } = running;
    reply.header('cache-control', cacheOf(running));
    const from = Number(query.from ?? 0);
    const models = await store.models(task, from);
    const sums = await store.sumsOf(task, from);
    return {
      versions: models.map(({ version, madeAt, accepted, dropped, meanAge, metrics, loss, ...model }) => ({
        version,
        at: madeAt,
        sums: (sums.get(version)?.sums ?? []).map(toHex),
        spoilt: (sums.get(version)?.spoilt ?? []).map(toHex),
        accepted,
        dropped,
        ...(meanAge !== undefined && { meanAge }),
        ...(metrics !== undefined && Object.keys(metrics).length > 0 && { metrics }),
        ...Live.scoresIn(model),
        ...(loss !== undefined && { loss }),
      })),
    };
  });
}

/** Reports an error of a specification in its own words. */
async function created(create: () => Promise<RunningTask>): Promise<RunningTask> {
  try {
    return await askingAuthority(create);
  } catch (error) {
    if (error instanceof RangeError) fail('policy-invalid', { detail: error.message });
    throw error;
  }
}

function privacyView(policy: TaskPolicy, { noiseMultiplier, colluders, budget }: Privacy.PrivacyPolicy) {
  const by = policy.oneShot?.authorityNoise === true ? ('authority' as const) : ('devices' as const);
  const epsilon = Privacy.epsilonBudget(policy);
  return { noiseMultiplier, colluders, by, ...(epsilon !== undefined && { ...budget, epsilon }) };
}

/** Strangers learn what a device needs before it enrols, and no results. */
async function describe(running: RunningTask, isReader = true) {
  const { task, read, state, why, models, open, admission } = running;
  const { newest } = models;
  const { specification, policy, mode } = read;
  const results = isReader ? newest : undefined;
  return {
    task: toHex(task),
    name: Buffer.from(policy.name).toString('utf8'),
    policy: specification.policy,
    mode,
    state,
    publicModels: running.hasPublicModels,
    batches: open.length,
    gathered: await admission.gathered(),
    admission: admission.view,
    ...(newest?.meanAge !== undefined && { meanAge: newest.meanAge }),
    ...(policy.metrics.length > 0 && results?.metrics !== undefined && { metrics: results.metrics }),
    ...(policy.privacy !== undefined && { privacy: privacyView(policy, policy.privacy) }),
    ...(why !== undefined && { why }),
    ...(newest !== undefined && policy.statistics === undefined && { version: newest.version }),
    ...Live.scoresIn(results ?? {}),
    ...(results?.loss !== undefined && { loss: results.loss }),
    ...(specification.model !== undefined && { model: specification.model }),
  };
}
