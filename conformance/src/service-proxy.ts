/** A proxy before a service: shows what passes, and changes, answers itself or cuts what it is told to. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

type Instead = Answer | 'cut' | undefined;
/** Before a request is passed on, perhaps later: an answer instead, a connection cut, or undefined to pass it on. */
type OnAsk = (asked: Asked) => Instead | Promise<Instead>;
/** Before an answer is passed on. */
type OnAnswer = (asked: Asked, answer: Answer) => Answer | 'cut';

export class ServiceProxy {
  readonly passed: { readonly asked: Asked; readonly answer: Answer }[] = [];
  onAsk: OnAsk | undefined;
  onAnswer: OnAnswer | undefined;
  readonly #server: Server;
  readonly #target: () => string;

  private constructor(target: () => string) {
    this.#target = target;
    this.#server = createServer((asked, reply) => void this.#serve(asked, reply).catch(() => reply.destroy()));
  }

  static async before(target: () => string): Promise<ServiceProxy> {
    const proxy = new ServiceProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Passes everything on as it is again. */
  behave(): void {
    this.onAsk = undefined;
    this.onAnswer = undefined;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = message;
    const asked: Asked = { method, path, headers, body: await bytesOf(message) };
    const instead = await this.onAsk?.(asked);
    const answer = instead ?? (await this.#passOn(asked));
    if (answer === 'cut') return void reply.destroy();
    const changed = instead === undefined ? (this.onAnswer?.(asked, answer) ?? answer) : answer;
    if (changed === 'cut') return void reply.destroy();
    this.passed.push({ asked, answer: changed });
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...kept } = changed.headers;
    reply.writeHead(changed.status, { ...kept, ...(method !== 'HEAD' && { 'content-length': changed.body.length }) });
    reply.end(changed.body);
  }

  #passOn({ method, path, headers, body }: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const url = new URL(path, this.#target());
      const { 'transfer-encoding': _, ...kept } = { ...headers, host: url.host };
      const own = body.length > 0 ? { ...kept, 'content-length': body.length } : kept;
      const send = url.protocol === 'https:' ? secureRequest : request;
      const passed = send(url, { method, headers: own, agent: false }, (answer) => {
        const { statusCode = 0 } = answer;
        bytesOf(answer).then((whole) => resolve({ status: statusCode, headers: answer.headers, body: whole }), reject);
      });
      passed.on('error', reject);
      passed.end(body);
    });
  }
}

async function bytesOf(message: IncomingMessage): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of message) parts.push(part as Uint8Array);
  return new Uint8Array(Buffer.concat(parts));
}
