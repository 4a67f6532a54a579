/** Listens for one test service: what a test does to requests and answers happens here. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { HEADER } from '@basa/protocol';
import { problem, type Reply } from './http-replies.ts';

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'GET, HEAD, POST, PUT',
  'access-control-expose-headers': `${HEADER.uploadOffset}, etag, retry-after`,
};

export interface Asked {
  readonly service: 'server' | 'authority';
  readonly method: string;
  readonly path: string;
  readonly body: Uint8Array;
  readonly headers: IncomingMessage['headers'];
}

/** A test's interference with a request or its answer. */
export interface Mischief {
  /** Before anything is done: a problem instead, a cut connection, or a wait. */
  before?(asked: Asked): Reply | 'cut' | Promise<undefined> | undefined;
  /** The answer, changed or lost after everything was done. */
  after?(asked: Asked, reply: Reply): Reply | 'cut' | { readonly cutAfter: number };
}

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

interface ListenOptions {
  readonly service: Asked['service'];
  readonly tls: TlsFiles | undefined;
  handle(asked: Asked): Reply;
  /** Told of each request first; gives what is done to it. */
  hear(asked: Asked): Mischief;
}

export async function listenFor(options: ListenOptions): Promise<{ readonly server: Server; readonly url: string }> {
  const { tls } = options;
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer(options, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { server, url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}` };
}

async function answer(
  { service, handle, hear }: ListenOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'OPTIONS') return void response.writeHead(204, CORS).end();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '', url: path = '', headers } = request;
  const asked: Asked = { service, method, path, headers, body: new Uint8Array(Buffer.concat(chunks)) };
  const mischief = hear(asked);
  const early = await mischief.before?.(asked);
  if (early === 'cut') return void response.destroy();
  const reply = early ?? guarded(handle, asked);
  const late = mischief.after?.(asked, reply) ?? reply;
  if (late === 'cut') return void response.destroy();
  if ('cutAfter' in late) {
    response.writeHead(reply.status, { 'content-length': String(reply.body?.length), ...reply.headers });
    response.write(reply.body?.slice(0, late.cutAfter));
    setTimeout(() => response.destroy(), 20);
    return;
  }
  response.writeHead(late.status, { ...CORS, ...late.headers });
  response.end(late.body);
}

function guarded(handle: (asked: Asked) => Reply, asked: Asked): Reply {
  try {
    return handle(asked);
  } catch (error) {
    return problem('internal', { detail: String(error) });
  }
}
