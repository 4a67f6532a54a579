/** The results of a statistics task, by window and field, as JSON and as CSV. */
import { SERVER_PATH } from '@basa/protocol/http';
import type { FieldResult, WindowResult } from '@basa/protocol/policy';
import { answers, fail, Type } from '@basa/service';
import { cacheOf, foundTask, type Readers, type RouteContext, taskParams } from './context.ts';

const common = { name: Type.String(), error: Type.Number({ description: 'standard deviation of the noise' }) };
const field = Type.Union([
  Type.Object({ kind: Type.Literal('number'), ...common, mean: Type.Number() }),
  Type.Object({
    kind: Type.Literal('histogram'),
    ...common,
    buckets: Type.Array(Type.Object({ bucket: Type.String(), count: Type.Number() })),
  }),
]);
const windows = Type.Object({
  windows: Type.Array(
    Type.Object({
      window: Type.Integer(),
      from: Type.Integer(),
      to: Type.Integer(),
      isOver: Type.Boolean(),
      devices: Type.Integer(),
      lost: Type.Integer({ description: 'reports that were acknowledged and are in no sum' }),
      why: Type.Optional(Type.String()),
      fields: Type.Array(field),
    }),
  ),
});

export function mountStatistics(context: RouteContext, { require: onRequest }: Readers): void {
  const schema = {
    summary: 'The results of a statistics task from this window on, or all (reader)',
    params: taskParams,
    querystring: Type.Object({
      from: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
      format: Type.Optional(Type.Union([Type.Literal('json'), Type.Literal('csv')])),
    }),
    response: answers(windows),
  };
  context.service.app.get(
    SERVER_PATH.statistics(':task'),
    { onRequest, schema },
    async ({ params, query, headers }, reply) => {
      const task = await foundTask(context, params.task);
      const { statistics } = task.mode;
      if (statistics === undefined) fail('not-found', { detail: 'this task trains a model and has no statistics' });
      const found = await statistics.from(Number(query.from ?? 0));
      reply.header('cache-control', cacheOf(task));
      const isCsv = (query.format ?? (headers.accept?.startsWith('text/csv') === true ? 'csv' : 'json')) === 'csv';
      // The schema describes the other answer.
      if (isCsv)
        return reply
          .type('text/csv; charset=utf-8')
          .serializer(String)
          .send(csvOf(found) as never);
      return { windows: found as WindowResult[] as never };
    },
  );
}

const HEADER = 'window,from,to,devices,lost,field,bucket,value,error';

/** Names have neither commas nor quotes. */
function csvOf(windows: readonly WindowResult[]): string {
  const rows = windows.flatMap(({ window, from, to, devices, lost, fields }) => {
    const start = [window, new Date(from).toISOString(), new Date(to).toISOString(), devices, lost];
    const values = fields.flatMap(valuesOf);
    return (values.length === 0 ? [['', '', '', '']] : values).map((value) => [...start, ...value].join(','));
  });
  return `${[HEADER, ...rows].join('\r\n')}\r\n`;
}

function valuesOf(field: FieldResult): readonly (readonly (string | number)[])[] {
  const { name, error } = field;
  if (field.kind === 'number') return [[name, '', field.mean, error]];
  return field.buckets.map(({ bucket, count }) => [name, bucket, count, error]);
}
