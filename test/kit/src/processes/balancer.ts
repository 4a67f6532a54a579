/** A load balancer in front of several nodes: each request goes to any of them, and the traffic can be recorded. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as its sender saw it: the times of request and answer, and the node that answered. */
export interface Exchange {
  readonly invokedAt: number;
  readonly returnedAt: number;
  readonly node: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** Missing if no answer came: the outcome is unknown. */
  readonly answer?: { readonly status: number; readonly body: Uint8Array };
}

export interface BalancerOptions {
  /** Returns the addresses of all nodes, including those that are down. */
  nodes(): readonly string[];
  /** A number below 1. */
  random(): number;
  onExchange?(exchange: Exchange): void;
}

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

export class Balancer {
  readonly #options: BalancerOptions;
  readonly #server: Server;

  private constructor(options: BalancerOptions) {
    this.#options = options;
    this.#server = createServer((asked, reply) => void this.#serve(asked, reply).catch(() => reply.destroy()));
  }

  static async open(options: BalancerOptions): Promise<Balancer> {
    const balancer = new Balancer(options);
    await new Promise<void>((resolve) => balancer.#server.listen(0, '127.0.0.1', resolve));
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { nodes, random, onExchange } = this.#options;
    const { method = '', url: path = '', headers } = message;
    const asked = { invokedAt: Date.now(), method, path, headers, body: await wholeOf(message) };
    const urls = nodes();
    const node = Math.floor(random() * urls.length);
    const answer = await pass(asked, urls[node] as string).catch(() => undefined);
    const told = answer === undefined ? {} : { answer: { status: answer.status, body: answer.body } };
    onExchange?.({ ...asked, node, returnedAt: Date.now(), ...told });
    if (answer === undefined) return void reply.destroy();
    const { 'transfer-encoding': _, connection: __, ...kept } = answer.headers;
    reply.writeHead(answer.status, kept);
    reply.end(answer.body);
  }
}

function pass(
  { method, path, headers, body }: Pick<Exchange, 'method' | 'path' | 'headers' | 'body'>,
  to: string,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { 'transfer-encoding': _, connection: __, ...kept } = headers;
    const own = body.length > 0 ? { ...kept, 'content-length': String(body.length) } : kept;
    const asking = request(new URL(path, to), { method, headers: own, agent: false }, (answer) => {
      const { statusCode = 0, headers: told } = answer;
      wholeOf(answer).then((whole) => resolve({ status: statusCode, headers: told, body: whole }), reject);
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

async function wholeOf(message: IncomingMessage): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of message) parts.push(part as Uint8Array);
  return new Uint8Array(Buffer.concat(parts));
}
