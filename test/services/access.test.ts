/** Every route of both services, by what their own descriptions say of who may ask: nobody else gets past the door. */
import { toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { OPERATORS, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const tokenOf = (role: 'operator' | 'auditor' | 'metrics') => ({
  tokenHash: toHex(nodeSuite.sha256(Buffer.from(`a-token-of-${role}`))),
  roles: [role],
});
const operators = [...OPERATORS, tokenOf('operator'), tokenOf('auditor'), tokenOf('metrics')];
let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({
    server: { operators, unsafePaperMode: true },
    authority: { operators, unsafePaperMode: true },
  });
});
afterAll(() => services.close());

interface Route {
  readonly method: string;
  readonly path: string;
  readonly who: 'operator' | 'auditor' | 'device' | 'anybody';
}

/** Those that anybody may ask; a new one has to be put here by hand. What servers ask is signed in its body. */
const FOR_ANYBODY = {
  server: [
    'GET /healthz',
    'GET /readyz',
    'GET /v1/health',
    'GET /v1/server',
    'GET /v1/tasks',
    'GET /v1/tasks/{task}',
    'GET /v1/tasks/{task}/metrics',
    'GET /v1/tasks/{task}/models/newest',
    'GET /v1/tasks/{task}/models/{version}',
    'GET /v1/tasks/{task}/shots/{upload}/fate',
    'GET /v1/tasks/{task}/standings',
  ],
  authority: [
    'GET /healthz',
    'GET /readyz',
    'GET /v1/health',
    'GET /v1/authority',
    'GET /v1/tasks/{task}/policy',
    'POST /v1/tasks/{task}/model-log',
    'PUT /v1/tasks/{task}/model-log/newest',
    'GET /v1/tasks/{task}/model-log/{version}',
    'GET /v1/tasks/{task}/model-log/newest/{nonce}',
    'POST /v1/tasks/{task}/revocations',
    'GET /v1/tasks/{task}/standing',
    'POST /v1/tasks/{task}/inspections',
    'POST /v1/tasks/{task}/batch-votes',
    'POST /v1/tasks/{task}/releases',
    'GET /v1/tasks/{task}/unsafe-paper/sealing-key',
  ],
} as const;

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary?: string }>>>>;
}

async function routesOf(service: 'server' | 'authority'): Promise<readonly Route[]> {
  const { paths } = (await (await fetch(`${services[service].url}/v1/openapi.json`)).json()) as Description;
  const open: ReadonlySet<string> = new Set(FOR_ANYBODY[service]);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, { summary = '' }]) => {
      const method = name.toUpperCase();
      const [, role] = /\((operator|auditor)\)/.exec(summary) ?? [];
      const who = open.has(`${method} ${path}`) ? 'anybody' : ((role ?? 'device') as Route['who']);
      return { method, path, who };
    }),
  );
}

function ask(service: 'server' | 'authority', { method, path }: Route, token?: string): Promise<Response> {
  const target = path.replace('{version}', '0').replace('{nonce}', '0'.repeat(32)).replace('{task}', services.task);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return fetch(services[service].url + target.replace(/\{\w+\}/g, '0'.repeat(64)), { method, headers });
}

const codeOf = async (answer: Response): Promise<string> =>
  answer.headers.get('content-type')?.startsWith('application/problem+json')
    ? ((await answer.json()) as { type: string }).type.replace('urn:basa:problem:', '')
    : String(answer.status);

describe.each(['server', 'authority'] as const)('the %s', (service) => {
  it('has the routes for anybody that are listed here, and no others', async () => {
    const open = (await routesOf(service)).filter(({ who }) => who === 'anybody');
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([...FOR_ANYBODY[service]].sort());
  });

  it('asks a signature for every route of devices', async () => {
    const routes = (await routesOf(service)).filter(({ who }) => who === 'device');
    expect(routes.length).toBeGreaterThan(1);
    for (const route of routes) {
      const answer = await ask(service, route);
      const code = route.method === 'HEAD' ? String(answer.status) : await codeOf(answer);
      expect([route.method, route.path, code]).toEqual([
        route.method,
        route.path,
        route.method === 'HEAD' ? '401' : 'unsigned',
      ]);
    }
  });

  it('asks the right token for every route of operators and auditors', async () => {
    const routes = (await routesOf(service)).filter(({ who }) => who === 'operator' || who === 'auditor');
    expect(routes.length).toBeGreaterThan(4);
    for (const route of routes) {
      const other = route.who === 'operator' ? 'auditor' : 'operator';
      const codes = [undefined, 'guessed', 'a-token-of-metrics', `a-token-of-${other}`].map(async (token) =>
        codeOf(await ask(service, route, token)),
      );
      expect([route.path, ...(await Promise.all(codes))]).toEqual([
        route.path,
        'operator-token-missing',
        'operator-token-missing',
        'role-missing',
        'role-missing',
      ]);
    }
  });
});
