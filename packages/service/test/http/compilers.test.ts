import { type FastifyInstance, fastify } from 'fastify';
import { expect, it } from 'vitest';
import { compileAtFirstUse } from '../../src/http/messages.ts';

const NONSENSE = { type: 'nonsense' };

/** Both schemas belong to one route. */
function appWith(body: object, response: object): FastifyInstance {
  const app = fastify();
  compileAtFirstUse(app);
  app.post('/', { schema: { body, response: { 200: response } } }, async ({ body: given }) => given);
  return app;
}

const send = async (app: FastifyInstance, payload: object) => {
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/', payload });
  return [statusCode, JSON.parse(body)];
};

const NUMBER = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };

it('a value that breaks its schema is refused with the reason, and the next one is judged anew', async () => {
  const app = appWith(NUMBER, NUMBER);
  const refused = [400, expect.objectContaining({ message: 'body/n must be number' })];
  expect(await send(app, { n: 'one' })).toEqual(refused);
  expect(await send(app, { n: 1, hidden: 2 })).toEqual([200, { n: 1 }]);
  expect(await send(app, { n: '1' })).toEqual(refused); // nothing is converted
});

it.each([
  ['of a request', NONSENSE, NUMBER],
  ['of an answer', NUMBER, NONSENSE],
])('a schema %s is compiled by the first request that needs it, not by the start', async (_, body, response) => {
  const app = appWith(body, response);
  await app.ready();
  expect(await send(app, { n: 1 })).toEqual([500, expect.anything()]);
});

it('schemas with the same text are compiled once in a process', async () => {
  const shared = { title: 'compiled once', ...NUMBER };
  expect(await send(appWith(shared, shared), { n: 1 })).toEqual([200, { n: 1 }]);
  const cannotCompile = { ...NONSENSE, toJSON: () => shared };
  expect(await send(appWith(cannotCompile, cannotCompile), { n: 1 })).toEqual([200, { n: 1 }]);
});
