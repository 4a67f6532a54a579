/**
 * Compiles a schema at the first request that needs it, once for all services of the process: to compile the schemas of every
 * route took more than half of a start.
 */
import ajvCompiler from '@fastify/ajv-compiler';
import serializerCompiler from '@fastify/fast-json-stringify-compiler';
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';

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
