/** The number of connections that may wait to be accepted. */
import type { FastifyInstance } from 'fastify';
import { expect, it } from 'vitest';
import { listen } from '../../src/http/listen.ts';

it('a service asks the system to hold the connections of a whole crowd, not the 511 of Node', async () => {
  const asked: { readonly backlog?: number }[] = [];
  const app = {
    listen: async (options: { readonly backlog?: number }) => {
      asked.push(options);
      return 'http://127.0.0.1:1';
    },
  };
  await listen(app as unknown as FastifyInstance, { host: '127.0.0.1', port: 0 });
  expect(asked).toMatchObject([{ host: '127.0.0.1', port: 0, backlog: 4096 }]);
});
