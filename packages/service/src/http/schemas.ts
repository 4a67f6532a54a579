/** Schemas that the routes of both services share. */
import { type TSchema, type TString, Type } from 'typebox';
import { BYTES_MEDIA_TYPE } from './bodies.ts';

/** A name of this many bytes in lower-case hexadecimal. */
export function hexText(bytes: number, description?: string): TString {
  return Type.String({ pattern: `^[0-9a-f]{${2 * bytes}}$`, ...(description === undefined ? {} : { description }) });
}

/** A body or answer in the wire format; its decoder checks it, not the schema. */
export function wireBytes(description: string) {
  return { description, content: { [BYTES_MEDIA_TYPE]: { schema: Type.Unsafe<unknown>({}) } } };
}

/** Rejects keys that are not listed. */
export const closed = { additionalProperties: false } as const;

const problem = Type.Object({
  type: Type.String({ description: 'urn:basa:problem:<code>' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.Optional(Type.String()),
  slots: Type.Optional(Type.Array(Type.Integer())),
  retryAfterMs: Type.Optional(Type.Integer()),
});

/** The answers of a route: its success, and the problem document for every refusal. */
export function answers<Yes extends TSchema | ReturnType<typeof wireBytes>>(yes: Yes) {
  const no = { description: 'a problem document', content: { 'application/problem+json': { schema: problem } } };
  return { 200: yes, default: no };
}

/** The schema of a route that takes one message in the wire format and answers with another. */
export function exchange(asked: string, told: string) {
  return { body: wireBytes(asked), response: answers(wireBytes(told)) };
}
