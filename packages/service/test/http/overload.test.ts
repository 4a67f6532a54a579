/** A service that is late puts off what is new, with a time; what was begun goes on. */
import { nodeRandomBytes } from '@basa/runtime/node';
import { afterEach, expect, it } from 'vitest';
import { createService, type Service } from '../../src/index.ts';

let service: Service | undefined;
afterEach(() => service?.close());

it.each([
  { late: 499, statuses: { begin: 200, go: 200, put: 200, upload: 200, healthz: 200 } },
  { late: 500, statuses: { begin: 503, go: 200, put: 200, upload: 200, healthz: 200 } },
  { late: 3000, statuses: { begin: 503, go: 503, put: 503, upload: 200, healthz: 200 } },
])('a service that is $late ms late', async ({ late, statuses }) => {
  const lines: string[] = [];
  const log = { level: 'warn', stream: { write: (line: string) => void lines.push(line) } } as const;
  const ports = { audience: nodeRandomBytes(32), clock: Date.now, lateMs: () => late };
  service = await createService({ title: 'test', log, ...ports });
  const { app } = service;
  app.post('/v1/begin', { config: { begins: true } }, async () => ({}));
  app.post('/v1/go', async () => ({}));
  app.put('/v1/put', async () => ({}));
  app.put('/v1/upload', { config: { completes: true } }, async () => ({}));
  const asked = {
    begin: await app.inject({ method: 'POST', url: '/v1/begin' }),
    go: await app.inject({ method: 'POST', url: '/v1/go' }),
    put: await app.inject({ method: 'PUT', url: '/v1/put' }),
    upload: await app.inject({ method: 'PUT', url: '/v1/upload' }),
    healthz: await app.inject({ method: 'GET', url: '/healthz' }),
  };
  const found = Object.fromEntries(Object.entries(asked).map(([name, { statusCode }]) => [name, statusCode]));
  expect(found).toEqual(statuses);
  for (const answer of Object.values(asked).filter(({ statusCode }) => statusCode === 503)) {
    expect(answer.json()).toMatchObject({ type: 'urn:basa:problem:overloaded' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  }
  // Requests that are put off are no faults, and their log must not be a load of its own.
  expect(lines).toEqual([]);
});

it('measures how late it is', async () => {
  service = await createService({ title: 'test', audience: nodeRandomBytes(32), clock: Date.now });
  service.app.post('/v1/begin', { config: { begins: true } }, async () => ({}));
  const status = async (): Promise<number> =>
    (await (service as Service).app.inject({ method: 'POST', url: '/v1/begin' })).statusCode;
  // Nothing else runs while this does: whatever the machine, the process is late afterwards.
  const seen = new Set<number>();
  for (let n = 0; n < 40 && !seen.has(503); n++) {
    for (const until = performance.now() + 1200; performance.now() < until; );
    await new Promise((resolve) => setTimeout(resolve, 20));
    seen.add(await status());
  }
  expect(seen).toContain(503);
});
