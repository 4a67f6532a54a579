/** Suspected devices of a task: operators see them, clear them, or ban a device. */
import { SERVER_PATH } from '@basa/protocol';
import { answers, closed, hexText, Type } from '@basa/service';
import { foundTask, type RouteContext, taskParams } from './context.ts';

const suspect = Type.Object({
  user: hexText(32, 'SHA-256 of the device key'),
  suspicion: Type.Number(),
  state: Type.Union([
    Type.Literal('clear'),
    Type.Literal('suspect'),
    Type.Literal('suspended'),
    Type.Literal('banned'),
  ]),
  spoilt: Type.Integer(),
  suspensions: Type.Integer(),
  sumsLeft: Type.Optional(Type.Integer()),
});

export function mountSuspicions(context: RouteContext): void {
  const { app } = context.service;
  const onRequest = context.service.requireRole('operator');

  const listSchema = {
    summary: 'Devices that are suspected of spoiling sums, the most suspected first (operator)',
    params: taskParams,
    response: answers(Type.Object({ suspects: Type.Array(suspect) })),
  };
  app.get(SERVER_PATH.suspicions(':task'), { onRequest, schema: listSchema }, async ({ params }) => {
    const { suspicion } = await foundTask(context, params.task);
    return { suspects: [...(await suspicion.list())] };
  });

  const decisionSchema = {
    summary: 'Clears a device of suspicion, or bans it from the task (operator)',
    params: Type.Object({ ...taskParams.properties, user: hexText(32, 'SHA-256 of the device key') }),
    body: Type.Object({ state: Type.Union([Type.Literal('clear'), Type.Literal('banned')]) }, closed),
    response: answers(suspect),
  };
  app.put(SERVER_PATH.suspicion(':task', ':user'), { onRequest, schema: decisionSchema }, async ({ params, body }) => {
    const { suspicion } = await foundTask(context, params.task);
    return suspicion.decide(params.user, body.state);
  });
}
