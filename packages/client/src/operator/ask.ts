/**
 * Makes one request of an operator. If a service is overloaded, the request is repeated at the time that the service names. This is safe,
 * because the service has done nothing.
 */
import { concatBytes } from '@basa/masking';
import { Network } from '@basa/protocol/http';
import { AnswerError, ProblemError, UnreachableError } from '../errors.ts';
import { sleep } from '../outside.ts';
import { problemOf } from '../services/answers.ts';
import { watchdog } from '../services/attempts.ts';

export interface OperatorOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Allows plain http to another machine. Anyone on the network path can then read the token. */
  readonly unsafeAllowPlainHttp?: boolean | undefined;
  /** The longest silence of a service (60 000). */
  readonly timeoutMs?: number | undefined;
}

const MAX_TRIES = 6;
/** Larger than any list or line of terms. */
const MAX_BYTES = 2 ** 28;
/** Models and logs may be as long as an array of bytes. */
export const LONG_BYTES: number = 2 ** 32 - 1;

export async function ask(
  options: OperatorOptions,
  method: string,
  path: string,
  body?: object | Uint8Array,
  maxBytes = MAX_BYTES,
): Promise<Told> {
  for (let tries = 1; ; tries++)
    try {
      return await askOnce(options, method, path, { body, maxBytes });
    } catch (error) {
      const isPutOff = error instanceof ProblemError && error.code === 'overloaded';
      if (!isPutOff || tries === MAX_TRIES) throw error;
      await sleep(error.retryAfterMs ?? 1000, options.signal ?? new AbortController().signal);
    }
}

/** An answer, read to its end. */
interface Told {
  readonly bytes: Uint8Array;
  json<Answer>(): Answer;
}

/** The time for which a service may be silent; a long body gets more time in total, but not if it is sent byte by byte. */
const TIMEOUT_MS = 60_000;

async function askOnce(
  { url, token, signal = new AbortController().signal, timeoutMs = TIMEOUT_MS }: OperatorOptions,
  method: string,
  path: string,
  { body, maxBytes }: { readonly body: object | Uint8Array | undefined; readonly maxBytes: number },
): Promise<Told> {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  if (body !== undefined)
    headers['content-type'] = body instanceof Uint8Array ? 'application/octet-stream' : 'application/json';
  const bytes =
    body === undefined || body instanceof Uint8Array ? body : new TextEncoder().encode(JSON.stringify(body));
  const watch = watchdog(signal, { timeoutMs, sentBytes: bytes?.length ?? 0 }, () => performance.now());
  const sent = bytes !== undefined && { body: bytes.slice() };
  // Services never redirect; a redirect could send the token or the body elsewhere.
  const asked: RequestInit = { method, headers, signal: watch.signal, redirect: 'manual', ...sent };
  try {
    const response = await fetch(new URL(path, url), asked);
    const said = await bodyOf(response, url, maxBytes, watch.feed);
    if (response.ok) return { bytes: said, json: () => objectIn(said, url) };
    const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
    throw problemOf({ status: response.status, header, body: said }, `${url}${path}`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProblemError || error instanceof AnswerError) throw error;
    if (watch.why !== undefined)
      throw new UnreachableError(url, watch.why, { code: 'no-answer', advice: 'ask again later' });
    throw new UnreachableError(url, new Error(Network.networkReason(error), { cause: error }), {
      code: 'no-answer',
      advice: Network.networkAdvice(error),
    });
  } finally {
    watch.stop();
  }
}

async function bodyOf(
  { body }: Response,
  url: string,
  maxBytes: number,
  feed: (bytes: number) => void,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  feed(0);
  const reader = body?.getReader();
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
    feed(read.value.length);
    length += read.value.length;
    if (length > maxBytes) {
      await reader?.cancel();
      throw new AnswerError(url, `more than ${maxBytes} bytes`);
    }
    parts.push(read.value);
  }
  return concatBytes(...parts);
}

function objectIn<Answer>(bytes: Uint8Array, url: string): Answer {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes))) as Answer;
  } catch (error) {
    throw new AnswerError(url, 'no JSON', error);
  }
}
