/** Bodies and answers: bytes or JSON, their schemas, and how these are compiled. */
import ajvCompiler from '@fastify/ajv-compiler';
import serializerCompiler from '@fastify/fast-json-stringify-compiler';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { type TSchema, type TString, Type } from 'typebox';
import { checkAbsentBody, checkBodyDigest } from './device-requests.ts';
import { fail } from './problems.ts';

// Small bodies: bytes or JSON, read completely and checked against the digest that their sender signed.

export const BYTES_MEDIA_TYPE = 'application/octet-stream';

export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(BYTES_MEDIA_TYPE, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    checkBodyDigest(request, body);
    return new Uint8Array(body.buffer, body.byteOffset, body.length);
  });
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done) => {
    try {
      checkBodyDigest(request, body);
    } catch (error) {
      return done(error as Error);
    }
    parseJson(request, body.toString('utf8'), done);
  });
  app.addHook('preValidation', async (request) => checkAbsentBody(request));
}

/** Returns the bytes of a body of `application/octet-stream`; pass `most` if the task allows fewer bytes than the route. */
export function bytesOf(request: FastifyRequest, most: number = Number.POSITIVE_INFINITY): Uint8Array {
  const { body } = request;
  if (!(body instanceof Uint8Array)) fail('malformed', { detail: `the body must be ${BYTES_MEDIA_TYPE}` });
  if (body.length > most) fail('body-too-large', { detail: `at most ${most} bytes` });
  return body;
}

/** In `onRequest`: rejects a body whose declared length exceeds the limit of the task, before it is read. */
export function checkDeclaredLength(request: FastifyRequest, most: number): void {
  if (Number(request.headers['content-length'] ?? 0) > most)
    fail('body-too-large', { detail: `at most ${most} bytes` });
}

/** The same for long bodies, which must declare their length: otherwise an anonymous sender could fill the memory. */
export function needDeclaredLength(request: FastifyRequest, most: number): void {
  if (request.headers['content-length'] === undefined)
    fail('malformed', { detail: 'the header content-length is missing; add it' });
  checkDeclaredLength(request, most);
}

/** Answers with bytes of the wire format. */
export function sendBytes(reply: FastifyReply, bytes: Uint8Array): FastifyReply {
  return reply.type(BYTES_MEDIA_TYPE).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
}

// Schemas that the routes of both services share.

/** A name of this many bytes in lower-case hexadecimal. */
export function hexText(bytes: number, description?: string): TString {
  return Type.String({ pattern: `^[0-9a-f]{${2 * bytes}}$`, ...(description === undefined ? {} : { description }) });
}

/** A body or answer in the wire format; its decoder checks it, not the schema. */
export function wireBytes(description: string) {
  return { description, content: { [BYTES_MEDIA_TYPE]: { schema: Type.Unsafe<unknown>({ description }) } } };
}

/** Rejects keys that are not listed. */
export const closed = { additionalProperties: false } as const;

const problem = Type.Object({
  type: Type.String({ description: 'urn:basa:problem:<code>' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.Optional(Type.String()),
  uploads: Type.Optional(Type.Array(Type.Integer())),
  retryAfterMs: Type.Optional(Type.Integer()),
  gathering: Type.Optional(Type.Object({ have: Type.Integer(), least: Type.Integer(), version: Type.Integer() })),
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

// Compiles a schema at the first request that needs it, once for all services of the process: to compile the schemas of every route took
// more than half of a start.

type Validate = ReturnType<FastifySchemaCompiler<unknown>>;
type Serialize = (value: unknown) => string;
type Compile<Made> = (route: { readonly schema: unknown }) => Made;

const validators = shared(
  () => ajvCompiler()({}, { customOptions: { coerceTypes: false, removeAdditional: false } }) as Compile<Validate>,
);
const serializers = shared(() => serializerCompiler()({}) as Compile<Serialize>);

export function compileAtFirstUse(app: FastifyInstance): void {
  app.setValidatorCompiler(({ schema }) => {
    const compiled = validators(schema);
    const validate: Validate = (value) => {
      const isGood = compiled()(value);
      validate.errors = compiled().errors ?? null;
      return isGood;
    };
    return validate;
  });
  app.setSerializerCompiler(({ schema }) => {
    const compiled = serializers(schema);
    return (value) => compiled()(value);
  });
}

/** Schemas with the same text share what is made of them. */
function shared<Made>(compiler: () => Compile<Made>): (schema: unknown) => () => Made {
  const made = new Map<string, () => Made>();
  const compile = once(compiler);
  return (schema) => {
    const text = JSON.stringify(schema);
    const known = made.get(text) ?? once(() => compile()({ schema }));
    made.set(text, known);
    return known;
  };
}

function once<Made>(make: () => Made): () => Made {
  let made: { readonly it: Made } | undefined;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
