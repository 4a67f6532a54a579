/** The event stream of a task, for its readers. */
import { SERVER_PATH } from '@basa/protocol';
import { fail, networkOf } from '@basa/service';
import { streamEvents } from '../live/event-stream.ts';
import { MAX_STREAMS_OF_NETWORK, StreamPlaces } from '../live/stream-places.ts';
import { foundTask, type RouteContext, taskParams } from './context.ts';
import type { Readers } from './readers.ts';

const ASK_AGAIN_MS = 10_000;
const NO_ROOM = {
  'network-full': `${MAX_STREAMS_OF_NETWORK} event streams from this address are open; close some pages. If the server is behind a proxy, set \`trustedProxies\` in its configuration`,
  'all-full': 'the server cannot open another event stream now; try again later',
} as const;

export function mountEvents(context: RouteContext, { require: onRequest }: Readers): void {
  const { service, live } = context;
  const { app } = service;
  const places = new StreamPlaces();
  app.addHook('preClose', async () => places.endAll());
  const schema = { params: taskParams, hide: true };
  app.get(SERVER_PATH.events(':task'), { onRequest, schema }, async ({ params, ip, method }, reply) => {
    const task = await foundTask(context, params.task);
    if (method === 'HEAD') return reply.type('text/event-stream').header('cache-control', 'no-store').send('');
    const { raw } = reply;
    if (raw.destroyed) return reply.hijack(); // the listener has already left, and no further event would report it
    const network = networkOf(ip);
    const room = places.makeRoom(network);
    if (room !== 'free') fail('rate-limited', { detail: NO_ROOM[room], retryAfterMs: ASK_AGAIN_MS });
    reply.hijack();
    const end = streamEvents(raw, {
      live,
      versions: (from) => live.versions(task, from),
      state: (versions) => live.state(task, versions),
    });
    raw.once('close', places.take(network, end));
  });
}
