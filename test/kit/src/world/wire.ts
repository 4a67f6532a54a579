/** HTTP between the parties of a world without a socket: every request goes through here, where it can be lost or falsified. */
import type { Outside } from '@basa/client/node';
import type { ServiceApp } from '@basa/service';

export interface Asked {
  /** The host of the address: the name of the party that is asked. */
  readonly host: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The connection breaks after this many bytes of the body, if there is one (`Front`). */
  readonly cutAfter?: number;
}

/** Lost: nobody gets the request. Answer lost: the party gets it, and its answer is lost. */
export type Fault = 'lost' | 'answer-lost';

export class Wire {
  readonly #apps = new Map<string, ServiceApp>();
  /** Asked about every request, which may wait for it; the first that answers decides: a fault, or the answer of somebody in place of the party. */
  readonly faults: ((asked: Asked) => Fault | Answered | undefined | Promise<undefined>)[] = [];
  /** May replace an answer: a party that lies, or that somebody reads along with. */
  readonly readers: ((asked: Asked, answered: Answered) => Answered | undefined)[] = [];

  /** `undefined` if the party is gone. */
  put(host: string, app: ServiceApp | undefined): void {
    if (app === undefined) this.#apps.delete(host);
    else this.#apps.set(host, app);
  }

  async ask(asked: Asked): Promise<Answered> {
    const app = this.#apps.get(asked.host);
    const fault = await this.#faultOf(asked);
    if (typeof fault === 'object') return fault;
    if (app === undefined || fault === 'lost') throw new TypeError(`${asked.host} does not answer`);
    const { method, path, headers, body } = asked;
    const answer = await app.inject({
      method: method as 'GET',
      url: path,
      headers: { ...headers },
      ...(body !== undefined && { payload: Buffer.from(body.buffer, body.byteOffset, body.length) }),
    });
    if (fault === 'answer-lost') throw new TypeError(`the answer of ${asked.host} was lost`);
    const texts = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')] as const);
    const answered: Answered = {
      status: answer.statusCode,
      headers: Object.fromEntries(texts),
      body: new Uint8Array(answer.rawPayload),
    };
    return this.readers.reduce((told, read) => read(asked, told) ?? told, answered);
  }

  async #faultOf(asked: Asked): Promise<Fault | Answered | undefined> {
    for (const fault of this.faults) {
      const found = await fault(asked);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** For services and operators. */
  readonly fetch: typeof fetch = async (input, init = {}) => {
    const { host, pathname, search } = new URL(String(input));
    const { body, method = 'GET' } = init;
    const headers = Object.fromEntries(new Headers(init.headers));
    const { status, ...answer } = await this.ask({
      host,
      method,
      path: pathname + search,
      headers,
      body: body == null ? undefined : new Uint8Array(await new Response(body).arrayBuffer()),
    });
    const isEmpty = status === 204 || status === 304 || method === 'HEAD';
    return new Response(isEmpty ? null : answer.body.slice(), { status, headers: answer.headers });
  };

  /** For the SDK. */
  readonly transport: Outside['transport'] = {
    send: async ({ method, url, headers, body, signal }) => {
      signal.throwIfAborted();
      const { host, pathname, search } = new URL(url);
      const answer = await this.ask({ host, method, path: pathname + search, headers, body });
      return {
        status: answer.status,
        header: (name) => answer.headers[name.toLowerCase()],
        async *chunks() {
          if (answer.body.length > 0) yield answer.body;
        },
      };
    },
    close: async () => {},
  };
}
