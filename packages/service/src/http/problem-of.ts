/** The problem document for any error thrown while a request was served; its text contains nothing internal. */
import { DecodeError } from '@basa/masking';
import { type ProblemDocument, problemDocument } from '@basa/protocol';
import { isStorageFull } from '../process/storage-full.ts';
import { DatabaseUnavailable } from '../sql/postgres.ts';
import { ServiceError } from './problem.ts';

const ASK_AGAIN_MS = 1000;

/** The fields that Fastify's errors carry. */
interface FrameworkError {
  readonly code?: unknown;
  readonly statusCode?: unknown;
  readonly message?: unknown;
  readonly validation?: readonly { readonly params?: { readonly additionalProperty?: unknown } }[];
}

export function problemOf(error: unknown): ProblemDocument {
  if (error instanceof ServiceError) return error.document;
  if (error instanceof DecodeError) return problemDocument('malformed', { detail: error.message });
  if (error instanceof DatabaseUnavailable)
    return problemDocument('database-unreachable', { retryAfterMs: ASK_AGAIN_MS });
  if (isStorageFull(error)) return problemDocument('storage-full');
  const { code, statusCode, message, validation } = (error ?? {}) as FrameworkError;
  if (validation !== undefined) return problemDocument('malformed', { detail: `${message}${unknownKey(validation)}` });
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return problemDocument('body-too-large');
  // Fastify's own message about a request it could not read: a bad address, media type or length.
  const isFramework = typeof code === 'string' && code.startsWith('FST_ERR_') && typeof message === 'string';
  if (isFramework && typeof statusCode === 'number' && statusCode < 500) {
    return problemDocument('malformed', { detail: message });
  }
  return problemDocument('internal');
}

/** The validator reports that a key is unknown, but its message does not say which. */
function unknownKey(validation: NonNullable<FrameworkError['validation']>): string {
  const name = validation[0]?.params?.additionalProperty;
  return name === undefined ? '' : `: ${JSON.stringify(name)}`;
}
