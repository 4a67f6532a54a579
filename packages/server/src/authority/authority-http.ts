/** Requests to one authority over HTTP. */
import { concatBytes, type Signer } from '@basa/masking';
import { millis } from '@basa/protocol';
import { HEADER, type ProblemCode, Problems, requestStatement, signatureHeaders } from '@basa/protocol/http';
import type { ServerRole } from '@basa/protocol/one-shot';
import { nodeRandomBytes } from '@basa/runtime/node';
import { ExpectedFault, traceHeaders } from '@basa/service';

/** The authority refused. */
export class AuthorityRefusal extends ExpectedFault {
  readonly code: ProblemCode | undefined;
  /** The entries of a list that it refused. */
  readonly uploads: readonly number[];
  constructor(code: ProblemCode | undefined, words: string, uploads: readonly number[] = []) {
    super(`the authority refused: ${words}`);
    this.name = 'AuthorityRefusal';
    this.code = code;
    this.uploads = uploads;
  }
}

/** The service does not answer, or its answer is not that of an authority. */
export class AuthorityUnreachable extends ExpectedFault {
  constructor(why: string, options?: ErrorOptions) {
    super(`the authority does not answer: ${why}`, options);
    this.name = 'AuthorityUnreachable';
  }
}

/** The result of a request. */
export interface Asked {
  readonly question: 'policy' | 'revocations' | 'health' | 'epochs' | 'inspect' | 'vote' | 'release';
  readonly seconds: number;
  /** It answered, possibly with a refusal. */
  readonly isUp: boolean;
}

export interface AuthorityHttpOptions {
  readonly url: string;
  readonly publicKey: Uint8Array;
  readonly ports: ServerRole.ServerPorts;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  onAsked?(asked: Asked): void;
}

export type Question = Asked['question'];

/** The decoder of an answer, and the time it may take. */
interface Reading {
  read(response: Response): Promise<Uint8Array>;
  readonly timeoutMs: number;
}

/** The request. */
export interface ToAsk extends Partial<Reading> {
  readonly question: Question;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: Uint8Array;
  /** For long bodies, and messages that carry no signature of the server: the sender is authenticated before the body is read. */
  readonly signer?: Signer;
}

export class AuthorityHttp {
  readonly #options: AuthorityHttpOptions;
  /**
   * One controller for each request under way. `AbortSignal.any` is not used, because it never releases signals that depend on a long-lived
   * signal.
   */
  readonly #asking = new Set<AbortController>();
  #isStopped = false;

  constructor(options: AuthorityHttpOptions) {
    this.#options = options;
  }

  /** Ends all requests, present and future. */
  stop(): void {
    this.#isStopped = true;
    for (const asking of this.#asking) asking.abort(new Error('the server stops'));
  }

  async ask({ question, method, path, body, signer, read = bodyOf, timeoutMs }: ToAsk): Promise<Uint8Array> {
    const start = performance.now();
    const tell = (isUp: boolean): void =>
      this.#options.onAsked?.({ question, seconds: (performance.now() - start) / 1000, isUp });
    const asking = new AbortController();
    const { signal } = asking;
    const timer = setTimeout(() => asking.abort(new Error('it took too long')), timeoutMs ?? this.#options.timeoutMs);
    this.#asking.add(asking);
    if (this.#isStopped) this.stop();
    try {
      const headers = signer !== undefined && body !== undefined ? this.#signed(signer, method, path, body) : {};
      const answer = await this.#answer(path, { method, signal, headers, ...(body && { body: body.slice() }) }, read);
      tell(true);
      return answer;
    } catch (error) {
      tell(!(error instanceof AuthorityUnreachable));
      throw error;
    } finally {
      clearTimeout(timer);
      this.#asking.delete(asking);
    }
  }

  #signed(signer: Signer, method: string, target: string, body: Uint8Array): Record<string, string> {
    const { publicKey: audience, ports } = this.#options;
    const digest = ports.suite.sha256(body);
    const statement = { audience, method, target, digest, at: millis(Date.now()), nonce: nodeRandomBytes(16) };
    return {
      ...signatureHeaders(signer.publicKey, statement, signer.sign(requestStatement(statement))),
      [HEADER.digest]: `sha-256=:${Buffer.from(digest).toString('base64')}:`,
    };
  }

  async #answer(
    path: string,
    question: Omit<RequestInit, 'headers'> & { readonly headers: Record<string, string> },
    read: Reading['read'],
  ): Promise<Uint8Array> {
    const { url, fetch } = this.#options;
    const headers: Record<string, string> = {
      'content-type': 'application/octet-stream',
      ...traceHeaders(),
      ...question.headers,
    };
    let response: Response;
    let body: Uint8Array;
    try {
      response = await fetch(new URL(path, url), { ...question, headers, redirect: 'error' });
      body = await (response.ok ? read : bodyOf)(response);
    } catch (error) {
      throw new AuthorityUnreachable(error instanceof Error ? error.message : 'no reason given', { cause: error });
    }
    if (response.ok) return body;
    const problem = problemIn(body);
    const words = [problem.title, problem.detail].filter((part) => typeof part === 'string').join(' ');
    if (response.status >= 500 || response.status === 429)
      throw new AuthorityUnreachable(words || `${response.status}`);
    throw new AuthorityRefusal(Problems.problemCodeOf(problem), words || `${response.status}`, uploadsIn(problem));
  }
}

/** More than any answer has. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Throws if the body is too long: an authority must not fill the memory of the server. */
async function bodyOf({ body }: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) throw new Error(`its answer has more than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return concatBytes(...parts);
}

type Problem = { type?: unknown; title?: unknown; detail?: unknown; uploads?: unknown };

function uploadsIn({ uploads }: Problem): readonly number[] {
  return Array.isArray(uploads) ? uploads.filter((position) => Number.isInteger(position)) : [];
}

function problemIn(body: Uint8Array): Problem {
  try {
    return Object(JSON.parse(new TextDecoder().decode(body)));
  } catch {
    return {};
  }
}
