/**
 * Makes one request of an operator. If a service is overloaded, the request is repeated at the time that the service names. This is safe,
 * because the service has done nothing.
 */
import { concatBytes } from '@basa/masking';
import { Network } from '@basa/protocol/http';
import { AnswerError, ProblemError, UnreachableError } from '../errors.ts';
import { sleep } from '../outside.ts';
import { exchange, NetworkFailure } from '../services/attempts.ts';
import { createWebTransport } from '../web/outside.ts';

export interface OperatorOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Allows plain http to another machine. Anyone on the network path can then read the token. */
  readonly unsafeAllowPlainHttp?: boolean | undefined;
  /** The longest silence of a service (60 000). */
  readonly timeoutMs?: number | undefined;
}

/** Of pages and of Node, which has `fetch` as well. A redirection could send the token or the body elsewhere. */
const transport = createWebTransport('manual');
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
  const isBytes = body instanceof Uint8Array;
  const bytes = body === undefined || isBytes ? body : new TextEncoder().encode(JSON.stringify(body));
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
  };
  const request = { method, url: String(new URL(path, url)), headers, signal, ...(bytes && { body: bytes.slice() }) };
  const limits = { timeoutMs, sentBytes: bytes?.length ?? 0, maxBytes, service: url, asked: `${url}${path}` };
  const parts: Uint8Array[] = [];
  try {
    await exchange(transport, request, { ...limits, stopwatch: () => performance.now() }, (part) => parts.push(part));
  } catch (error) {
    if (!(error instanceof NetworkFailure)) throw error;
    const { cause } = error;
    if (cause === undefined)
      throw new UnreachableError(url, error.message, { code: 'no-answer', advice: 'ask again later' });
    const why = new Error(Network.networkReason(cause), { cause });
    throw new UnreachableError(url, why, { code: 'no-answer', advice: Network.networkAdvice(cause) });
  }
  const said = concatBytes(...parts);
  return { bytes: said, json: () => objectIn(said, url) };
}

function objectIn<Answer>(bytes: Uint8Array, url: string): Answer {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes))) as Answer;
  } catch (error) {
    throw new AnswerError(url, 'no JSON', error);
  }
}
