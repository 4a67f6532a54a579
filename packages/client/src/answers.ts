/** Decodes the answers of a service; an answer that does not decode is an `AnswerError`. */
import { DecodeError, fromHex } from '@basa/masking';
import type { Codec } from '@basa/protocol/wire';
import { AnswerError } from './errors.ts';

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
