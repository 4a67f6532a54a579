/** Reads the answers of a service: bytes that do not decode are an `AnswerError`, and a refusal becomes a `ProblemError`. */
import { DecodeError, fromHex } from '@basa/masking';
import { type Gathering, HEADER, Problems } from '@basa/protocol/http';
import type { Codec } from '@basa/protocol/wire';
import { AnswerError, ProblemError } from '../errors.ts';

export function decoded<T>(service: string, codec: Pick<Codec<T>, 'decode'>, bytes: Uint8Array): T {
  try {
    return codec.decode(bytes);
  } catch (error) {
    if (error instanceof DecodeError) throw new AnswerError(`the ${service}`, error.message, error);
    throw error;
  }
}

export function jsonOf(service: string, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch {
    // The error is thrown below.
  }
  throw new AnswerError(`the ${service}`, 'no JSON object');
}

/** A key or name in hex. */
export function hexOf(service: string, value: unknown, what: string): Uint8Array {
  const bytes = typeof value === 'string' ? fromHex(value) : undefined;
  if (bytes?.length !== 32) throw new AnswerError(`the ${service}`, `${what} is not 32 bytes in hex`);
  return bytes;
}

export function jsonBody(value: object): { readonly body: Uint8Array; readonly type: 'application/json' } {
  return { body: new TextEncoder().encode(JSON.stringify(value)), type: 'application/json' };
}

interface NegativeAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: Uint8Array;
}

/** `asked` names the request, for people who make many of them. */
export function problemOf({ status, header, body }: NegativeAnswer, asked?: string): ProblemError {
  const document = parse(body);
  const { retryAfterMs } = document;
  const [title, detail] = [wordsOf(document['title']), wordsOf(document['detail'])];
  return new ProblemError({
    code: Problems.problemCodeOf(document) ?? 'unknown-problem',
    status,
    title: `${asked === undefined ? '' : `${asked}: `}${title ?? `The service answered with status ${status}.`}`,
    detail,
    retryAfterMs: waitOf(retryAfterMs) ?? waitOf(1000 * Number(header('retry-after') ?? Number.NaN)),
    gathering: gatheringIn(document['gathering']),
    uploadOffset: offsetOf(Number(header(HEADER.uploadOffset) ?? Number.NaN)),
  });
}

/** They may be shown on a terminal, which characters of the service must not control. */
export function wordsOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ') : undefined;
}

/** A service may ask the client to wait, but after this time the client asks again anyway. */
const LONGEST_WAIT_MS = 3_600_000;

function waitOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? Math.min(value, LONGEST_WAIT_MS) : undefined;
}

function gatheringIn(value: unknown): Gathering | undefined {
  const { have, least, version } = Object(value) as Readonly<Record<string, unknown>>;
  const isNumber = (one: unknown): one is number => Number.isSafeInteger(one) && (one as number) >= 0;
  return isNumber(have) && isNumber(least) && isNumber(version) ? { have, least, version } : undefined;
}

function offsetOf(value: number): number | undefined {
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function parse(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof document === 'object' && document !== null ? { ...document } : {};
  } catch {
    return {};
  }
}
