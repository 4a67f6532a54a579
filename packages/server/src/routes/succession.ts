/** The terms of a task whose authorities may be replaced, for devices and operators. */
import { LINE_BYTES, lineCodec, SERVER_PATH } from '@basa/protocol';
import { answers, bytesOf, fail, sendBytes, Type, wireBytes } from '@basa/service';
import { firstPolicy, keepLine, lineOf } from '../tasks/terms.ts';
import { foundTask, type RouteContext, taskParams } from './context.ts';

export function mountSuccession(context: RouteContext): void {
  const { service, store, tasks } = context;
  const { app } = service;

  app.get(
    SERVER_PATH.line(':task'),
    {
      schema: {
        summary: 'The policy and the terms of a task',
        params: taskParams,
        response: answers(wireBytes('line')),
      },
    },
    async ({ params }, reply) => {
      const { task, read } = await foundTask(context, params.task);
      return sendBytes(reply, lineCodec.encode(await lineOf(store, task, firstPolicy(read.specification))));
    },
  );

  app.put(
    SERVER_PATH.line(':task'),
    {
      bodyLimit: LINE_BYTES,
      schema: {
        summary: 'Shows terms that enough authorities signed (anybody)',
        params: taskParams,
        body: wireBytes('line'),
        response: answers(Type.Object({ terms: Type.Integer({ description: 'kept now' }) })),
      },
    },
    async (request) => {
      const { task, read } = await foundTask(context, request.params.task);
      if (read.policy.succession === undefined) fail('succession-forbidden');
      if (await keepLine(store, task, lineCodec.decode(bytesOf(request)))) await tasks.followTerms();
      return { terms: (await lineOf(store, task, firstPolicy(read.specification))).terms.length };
    },
  );
}
