/** The event stream of a task: what everybody, or every operator, may watch, where the server is told to show it. */
import { SERVER_PATH } from '@basa/protocol';
import { fail } from '@basa/service';
import { streamEvents } from '../live/event-stream.ts';
import type { RouteContext } from './context.ts';
import { foundTask, taskParams } from './context.ts';

const MAX_STREAMS = 100;
const ASK_AGAIN_MS = 10_000;

export function mountEvents(context: RouteContext, needsLogin: boolean): void {
  const { service, keeper, live } = context;
  const { app } = service;
  const open = new Set<() => void>();
  app.addHook('preClose', async () => {
    for (const end of open) end();
  });
  const schema = { params: taskParams, hide: true };
  const access = needsLogin ? { onRequest: service.requireRole('operator', 'auditor') } : {};
  app.get(SERVER_PATH.events(':task'), { ...access, schema }, async ({ params }, reply) => {
    const task = await foundTask(context, params.task);
    if (open.size >= MAX_STREAMS) fail('rate-limited', { retryAfterMs: ASK_AGAIN_MS });
    reply.hijack();
    const end = streamEvents(reply.raw, {
      live,
      versions: (from) => live.versions(task, from),
      state: (versions) => live.state(task, keeper, versions),
    });
    open.add(end);
    reply.raw.once('close', () => open.delete(end));
  });
}
