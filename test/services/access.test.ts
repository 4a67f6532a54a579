/** Every route of both services, and who may ask it: nobody else gets past the door. */
import { readAuthorityConfig } from '@basa/authority';
import { toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { AUTHORITY_ROLES, type Role, SERVER_ROLES } from '@basa/service';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { OPERATORS } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROLES = { server: SERVER_ROLES, authority: AUTHORITY_ROLES } as const;
const tokenOf = (role: Role) => ({
  tokenHash: toHex(nodeSuite.sha256(Buffer.from(`a-token-of-${role}`))),
  roles: [role],
});
const operators = [...OPERATORS, ...new Set<Role>([...SERVER_ROLES, ...AUTHORITY_ROLES])].map((one) =>
  typeof one === 'string' ? tokenOf(one) : one,
);
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
  readonly who: 'token' | 'device' | 'reader' | 'anybody';
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
    'GET /v1/tasks/{task}/shots/{upload}/fate',
  ],
  authority: [
    'GET /healthz',
    'GET /readyz',
    'GET /v1/health',
    'GET /v1/authority',
    'GET /v1/tasks/{task}/policy',
    'GET /v1/revocations',
    'GET /v1/tasks/{task}/device-count',
    'GET /v1/tasks/{task}/epochs',
    'POST /v1/tasks/{task}/inspections',
    'POST /v1/tasks/{task}/batch-votes',
    'POST /v1/tasks/{task}/releases',
    'GET /v1/tasks/{task}/unsafe-paper/sealing-key',
  ],
} as const;

/** For devices of the task, and for tokens of operators and auditors. */
const FOR_READERS: readonly string[] = [
  'GET /v1/tasks/{task}/metrics',
  'GET /v1/tasks/{task}/statistics',
  'GET /v1/tasks/{task}/models/newest',
  'GET /v1/tasks/{task}/models/{version}',
];

/** Each route that needs a token, and the only roles that open it. */
const FOR_ROLES: Readonly<Record<'server' | 'authority', Readonly<Record<string, readonly Role[]>>>> = {
  server: {
    'GET /v1/roles': SERVER_ROLES,
    'POST /v1/tasks': ['operator'],
    'DELETE /v1/tasks/{task}': ['operator'],
    'PUT /v1/tasks/{task}/state': ['operator'],
    'PUT /v1/tasks/{task}/evaluation-set': ['operator'],
    'PUT /v1/tasks/{task}/models/{version}/evaluation': ['operator'],
    'PUT /v1/first-parameters': ['operator'],
    'GET /v1/batches/{ctx}': ['operator'],
  },
  authority: {
    'GET /v1/roles': AUTHORITY_ROLES,
    'POST /v1/tasks': ['tasks'],
    'GET /v1/tasks': ['enrol', 'revoke', 'admin'],
    'POST /v1/tasks/{task}/enrolment-tokens': ['enrol'],
    'PUT /v1/tasks/{task}/allow-list': ['enrol'],
    'GET /v1/tasks/{task}/devices/export/{successor}': ['enrol'],
    'POST /v1/tasks/{task}/devices/import': ['enrol'],
    'GET /v1/tasks/{task}/devices': ['enrol', 'revoke', 'admin'],
    'POST /v1/revocations': ['revoke'],
  },
};

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

async function routesOf(service: 'server' | 'authority'): Promise<readonly Route[]> {
  const { paths } = (await (await fetch(`${services[service].url}/v1/openapi.json`)).json()) as Description;
  const open: ReadonlySet<string> = new Set(FOR_ANYBODY[service]);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((name): Route => {
      const route = { method: name.toUpperCase(), path };
      const named = `${route.method} ${path}`;
      const isRead = service === 'server' && FOR_READERS.includes(named);
      const closed = isRead ? 'reader' : named in FOR_ROLES[service] ? 'token' : 'device';
      return { ...route, who: open.has(named) ? 'anybody' : closed };
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

it('a configuration gives a token only roles that its service has', () => {
  const tokens = (role: Role) => ({
    environment: { BASA_AUTHORITY_PASSPHRASE: 'secret' },
    overrides: { dataFolder: 'data', port: 0, operators: [tokenOf(role)] },
  });
  expect(readAuthorityConfig(tokens('enrol')).operators).toEqual([tokenOf('enrol')]);
  for (const role of ['operator', 'auditor'] as const)
    expect(() => readAuthorityConfig(tokens(role))).toThrow('operators.0.roles.0');
});

it('the server shows models and results to tokens that read, and to no stranger', async () => {
  const routes = (await routesOf('server')).filter(({ who }) => who === 'reader');
  expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([...FOR_READERS].sort());
  for (const route of routes) {
    const told = async (token?: string) => codeOf(await ask('server', route, token));
    expect([route.path, await told(), await told('guessed')]).toEqual([
      route.path,
      'readers-only',
      'operator-token-missing',
    ]);
    const opened = await Promise.all(
      SERVER_ROLES.map(async (role) => ((await told(`a-token-of-${role}`)) === 'role-missing' ? [] : [role])),
    );
    expect([route.path, opened.flat()]).toEqual([route.path, ['operator', 'auditor']]);
  }
});

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

  it('opens the routes of a role to tokens with this role, and to no other token', async () => {
    const routes = (await routesOf(service)).filter(({ who }) => who === 'token');
    expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      Object.keys(FOR_ROLES[service]).sort(),
    );
    for (const route of routes) {
      const name = `${route.method} ${route.path}`;
      for (const token of [undefined, 'guessed'])
        expect([name, await codeOf(await ask(service, route, token))]).toEqual([name, 'operator-token-missing']);
      const isRefused = async (role: Role) =>
        (await codeOf(await ask(service, route, `a-token-of-${role}`))) === 'role-missing';
      const opened = await Promise.all(ROLES[service].map(async (role) => ((await isRefused(role)) ? [] : [role])));
      expect([name, opened.flat()]).toEqual([name, FOR_ROLES[service][name]]);
    }
  });

  it('tells a refused token the role that it needs, and those that it has', async () => {
    const route = { method: 'POST', path: '/v1/tasks', who: 'token' } as const;
    const answer = await ask(service, route, 'a-token-of-metrics');
    const needed = service === 'server' ? 'operator' : 'tasks';
    expect(await answer.json()).toMatchObject({ detail: `the role ${needed} is needed; this token has metrics` });
  });
});
