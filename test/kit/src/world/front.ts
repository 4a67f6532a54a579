/** A socket before a party of a world: for other processes, browsers and TLS. What happens to requests is the wire's to say. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Wire } from './wire.ts';

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export class Front {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, scheme: string) {
    this.#server = server;
    this.url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async before(wire: Wire, host: string, tls?: TlsFiles): Promise<Front> {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      answer(wire, host, request, response).catch(() => response.destroy());
    };
    const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Front(server, tls === undefined ? 'http' : 'https');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function answer(wire: Wire, host: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '', url: path = '' } = request;
  const { 'transfer-encoding': _, connection: __, ...headers } = request.headers;
  const body = chunks.length === 0 ? undefined : new Uint8Array(Buffer.concat(chunks));
  const told = await wire.ask({ host, method, path, headers: headers as Record<string, string>, body });
  const { 'transfer-encoding': ___, 'content-length': ____, connection: _____, ...kept } = told.headers;
  response.writeHead(told.status, { ...kept, ...(method !== 'HEAD' && { 'content-length': told.body.length }) });
  if (told.cutAfter === undefined) return void response.end(told.body);
  response.write(told.body.subarray(0, told.cutAfter));
  setTimeout(() => response.destroy(), 20);
}
