/** Probes, drain and access to the metrics of a service. */
import { toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics, createService, type Service, type ServiceOptions } from '../../src/index.ts';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

async function serviceWith(more: Partial<ServiceOptions> = {}): Promise<Service> {
  const metrics = createMetrics('server');
  const service = await createService({
    title: 'test',
    audience: new Uint8Array(32),
    clock: () => 0,
    metrics,
    ...more,
  });
  services.push(service);
  return service;
}

const codeOf = async ({ app }: Service, url: string, headers = {}) =>
  (await app.inject({ method: 'GET', url, headers })).statusCode;

describe('readiness', () => {
  it('needs every check but those it can do without', async () => {
    const service = await serviceWith();
    let isThere = false;
    service.check('database', { isNeeded: true, look: async () => undefined });
    service.check('authority', {
      isNeeded: false,
      look: async () => {
        throw new Error('away');
      },
    });
    const answer = await service.app.inject({ method: 'GET', url: '/readyz' });
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { status: 'ready', checks: { database: 'ok', authority: 'failed' }, missing: [] },
    ]);
    const other = await serviceWith();
    other.check('database', {
      isNeeded: true,
      look: async () => {
        if (!isThere) throw new Error('postgres://user:password@host is away');
      },
    });
    const unready = await other.app.inject({ method: 'GET', url: '/readyz' });
    expect([unready.statusCode, unready.json()]).toEqual([
      503,
      { status: 'unready', checks: { database: 'failed' }, missing: ['database'] },
    ]);
    expect(await codeOf(other, '/healthz')).toBe(200);
    isThere = true;
    while ((await codeOf(other, '/readyz')) !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
  });

  it('looks once for many who ask at once', async () => {
    const service = await serviceWith();
    let looks = 0;
    service.check('database', { isNeeded: true, look: async () => ++looks });
    await Promise.all(Array.from({ length: 20 }, () => codeOf(service, '/readyz')));
    expect(looks).toBe(1);
  });

  it('ends at once when the service drains, while it goes on serving', async () => {
    const service = await serviceWith({ drainMs: 1 });
    expect(await codeOf(service, '/readyz')).toBe(200);
    const drained = service.drain();
    const answer = await service.app.inject({ method: 'GET', url: '/readyz' });
    expect([answer.statusCode, answer.json().status]).toEqual([503, 'draining']);
    expect([await codeOf(service, '/healthz'), await codeOf(service, '/v1/health')]).toEqual([200, 200]);
    await drained;
  });

  it('probes are not held to the limit of an address', async () => {
    const service = await serviceWith({ addressLimit: { burst: 1, perSecond: 0.001 } });
    const codes = [];
    for (const url of ['/v1/health', '/v1/health', '/healthz', '/readyz']) codes.push(await codeOf(service, url));
    expect(codes).toEqual([200, 429, 200, 200]);
  });
});

describe('/metrics', () => {
  const hashOf = (token: string): string => toHex(nodeSuite.sha256(new TextEncoder().encode(token)));
  const operators = [
    { tokenHash: hashOf('scraper'), roles: ['metrics'] },
    { tokenHash: hashOf('auditor'), roles: ['auditor'] },
  ] as const;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('is for tokens with the role by default, which is good for nothing else', async () => {
    const service = await serviceWith({ operators });
    service.app.get('/v1/staff', { onRequest: service.requireRole('operator') }, async () => ({}));
    expect(await codeOf(service, '/metrics')).toBe(401);
    expect(await codeOf(service, '/metrics', bearer('auditor'))).toBe(403);
    expect(await codeOf(service, '/metrics', bearer('scraper'))).toBe(200);
    expect(await codeOf(service, '/v1/staff', bearer('scraper'))).toBe(403);
  });

  it('is for everybody, or for nobody, where the operator says so', async () => {
    expect(await codeOf(await serviceWith({ metricsAccess: 'open' }), '/metrics')).toBe(200);
    expect(await codeOf(await serviceWith({ metricsAccess: 'off', operators }), '/metrics', bearer('scraper'))).toBe(
      404,
    );
  });
});
