/** One request of an operator. A service that has too much to do is asked again when it says so: it did nothing. */
import { ProblemError, UnreachableError } from '../errors.ts';
import { sleep } from '../outside.ts';
import { problemOf } from '../services/problem-answer.ts';
import { networkAdvice, networkReason } from './network.ts';

export interface OperatorOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const MAX_TRIES = 6;

export async function ask(
  options: OperatorOptions,
  method: string,
  path: string,
  body?: object | Uint8Array,
): Promise<Response> {
  for (let tries = 1; ; tries++)
    try {
      return await askOnce(options, method, path, body);
    } catch (error) {
      const isPutOff = error instanceof ProblemError && error.code === 'overloaded';
      if (!isPutOff || tries === MAX_TRIES) throw error;
      await sleep(error.retryAfterMs ?? 1000, options.signal ?? new AbortController().signal);
    }
}

async function askOnce(
  { url, token, signal }: OperatorOptions,
  method: string,
  path: string,
  body: object | Uint8Array | undefined,
): Promise<Response> {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  if (body !== undefined)
    headers['content-type'] = body instanceof Uint8Array ? 'application/octet-stream' : 'application/json';
  const sent = body instanceof Uint8Array ? body.slice() : body === undefined ? undefined : JSON.stringify(body);
  const response = await fetch(new URL(path, url), {
    method,
    headers,
    ...(signal !== undefined && { signal }),
    ...(sent !== undefined && { body: sent }),
  }).catch((error: Error) => {
    signal?.throwIfAborted();
    throw new UnreachableError(url, new Error(networkReason(error), { cause: error }), networkAdvice(error));
  });
  if (response.ok) return response;
  const said = new Uint8Array(await response.arrayBuffer());
  const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
  throw problemOf({ status: response.status, header, body: said }, `${url}${path}`);
}
