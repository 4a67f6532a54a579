/** Requests to a service: who signed them, what their no looks like, and what is never said. */
import { get } from 'node:https';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { DecodeError, toHex } from '@basa/masking';
import { refused } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { signingDevice } from '../../../cli/src/conformance/signing-device.ts';
import type { Service, ServiceOptions } from '../../src/index.ts';
import {
  answers,
  bytesOf,
  closed,
  createService,
  deviceOf,
  fail,
  granted,
  hexText,
  rememberRequest,
  Type,
  wireBytes,
} from '../../src/index.ts';
import { TEST_TLS } from './tls.ts';

const audience = nodeRandomBytes(32);
const NOW = 1_800_000_000_000;
const token = 'a-token-nobody-guesses';
const operators = [
  { tokenHash: toHex(nodeSuite.sha256(Buffer.from(token))), roles: ['operator' as const] },
  { tokenHash: toHex(nodeSuite.sha256(Buffer.from('other'))), roles: ['auditor' as const] },
];

const open: Service[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()));
});

async function serviceWith(more: Partial<ServiceOptions> = {}): Promise<Service> {
  const service = await createService({ title: 'test', audience, clock: () => NOW, operators, ...more });
  open.push(service);
  const { app } = service;
  app.post(
    '/v1/echo',
    { onRequest: service.requireDevice(), schema: { body: wireBytes('bytes') } },
    async (request) => {
      rememberRequest(request);
      return { user: toHex(deviceOf(request).user), length: bytesOf(request, 100).length };
    },
  );
  const hello = Type.Object({ name: Type.String(), id: Type.Optional(hexText(2)) }, closed);
  const named = { body: hello, response: answers(Type.Object({ name: Type.String() })) };
  app.post('/v1/named', { onRequest: service.requireDevice(), schema: named }, async ({ body }) => ({
    name: body.name,
  }));
  app.get('/v1/look', { onRequest: service.requireDevice() }, async () => ({}));
  app.get('/v1/staff', { onRequest: service.requireRole('operator') }, async () => ({}));
  app.post('/v1/open', async () => ({}));
  app.get('/v1/fails/:how', async (request) => {
    const { how } = request.params as { how: string };
    if (how === 'refusal') granted(refused('second-slot', { slots: [3] }));
    if (how === 'decode') throw new DecodeError('ticket.slot', 'truncated');
    if (how === 'full') throw Object.assign(new Error('x'), { code: 'ENOSPC' });
    if (how === 'sqlite-full') throw Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    if (how === 'later') fail('task-paused', { retryAfterMs: 1500 });
    throw new Error('the secret is 12345');
  });
  return service;
}

const device = signingDevice();
function signed(target: string, body: Uint8Array | undefined, more: { at?: number; method?: string } = {}) {
  const method = more.method ?? (body === undefined ? 'GET' : 'POST');
  const headers: Record<string, string> = device.headers({ audience, target, at: NOW, body, ...more, method });
  if (body !== undefined) headers['content-type'] = 'application/octet-stream';
  return {
    method: method as 'GET' | 'POST',
    url: target,
    headers,
    ...(body === undefined ? {} : { payload: Buffer.from(body) }),
  };
}
const codeOf = (answer: { json(): { type: string } }) => answer.json().type.replace('urn:basa:problem:', '');

describe('a request signed by a device', () => {
  it('is served, and the service knows who asked', async () => {
    const { app } = await serviceWith();
    const answer = await app.inject(signed('/v1/echo', new Uint8Array(7)));
    expect(answer.json()).toEqual({ user: toHex(nodeSuite.sha256(device.deviceKey)), length: 7 });
    expect((await app.inject(signed('/v1/look', undefined))).statusCode).toBe(200);
  });

  it('may be JSON: the digest is of its bytes', async () => {
    const { app } = await serviceWith();
    const request = signed('/v1/named', Buffer.from('{ "name": "a" }'));
    const answer = await app.inject({
      ...request,
      headers: { ...request.headers, 'content-type': 'application/json' },
    });
    expect(answer.json()).toEqual({ name: 'a' });
  });

  it('is refused when it comes again', async () => {
    const { app } = await serviceWith();
    const request = signed('/v1/echo', new Uint8Array(7));
    await app.inject(request);
    expect(codeOf(await app.inject(request))).toBe('replayed');
  });

  it.each([
    ['with a signature of something else', { 'basa-nonce': '00'.repeat(16) }, 'request-signature-invalid'],
    ['with a key in capitals', { 'basa-device': 'AB'.repeat(32) }, 'malformed'],
    ['with a time that is no number', { 'basa-time': 'noon' }, 'malformed'],
    ['with a digest of another kind', { 'content-digest': 'md5=:AAAA:' }, 'malformed'],
  ])('%s is refused', async (_, headers, code) => {
    const { app } = await serviceWith();
    const request = signed('/v1/echo', new Uint8Array(7));
    expect(codeOf(await app.inject({ ...request, headers: { ...request.headers, ...headers } }))).toBe(code);
  });

  it('without a signature is not one', async () => {
    const { app } = await serviceWith();
    const { 'basa-signature': _, ...headers } = signed('/v1/echo', new Uint8Array(7)).headers;
    expect(codeOf(await app.inject({ ...signed('/v1/echo', new Uint8Array(7)), headers }))).toBe('unsigned');
  });

  it.each([
    ['another path', { url: '/v1/look?x=1', method: 'GET' as const, payload: '' }],
    ['another method', { method: 'GET' as const, url: '/v1/look' }],
  ])('does not count for %s', async (_, change) => {
    const { app } = await serviceWith();
    const request = { ...signed('/v1/echo', new Uint8Array()), ...change };
    expect(codeOf(await app.inject(request))).toBe('request-signature-invalid');
  });

  it('to another service does not count here', async () => {
    const { app } = await serviceWith({ audience: nodeRandomBytes(32) });
    expect(codeOf(await app.inject(signed('/v1/look', undefined)))).toBe('request-signature-invalid');
  });

  it('of another time is refused with the time of the service', async () => {
    const { app } = await serviceWith();
    for (const at of [NOW - 300_001, NOW + 300_001]) {
      const answer = await app.inject(signed('/v1/look', undefined, { at }));
      expect([codeOf(answer), answer.json().detail]).toEqual(['clock-skew', String(NOW)]);
    }
    expect((await app.inject(signed('/v1/look', undefined, { at: NOW - 300_000 }))).statusCode).toBe(200);
  });

  it('whose body was changed, cut off or left out is refused', async () => {
    const { app } = await serviceWith();
    const { payload: _, ...leftOut } = signed('/v1/echo', new Uint8Array(7));
    const changed = { ...signed('/v1/echo', new Uint8Array(7)), payload: Buffer.from('changed') };
    const cutOff = { ...signed('/v1/echo', new Uint8Array(7)), payload: Buffer.alloc(6) };
    for (const request of [leftOut, changed, cutOff]) {
      expect(codeOf(await app.inject(request))).toBe('digest-mismatch');
    }
  });

  it('is not remembered where nobody vouched for the device', async () => {
    const { app } = await serviceWith();
    const request = signed('/v1/look', undefined);
    expect([(await app.inject(request)).statusCode, (await app.inject(request)).statusCode]).toEqual([200, 200]);
  });

  it('is served however many were remembered before, and the newest of them are refused still', async () => {
    const { app } = await serviceWith({ maxNonces: 10 });
    const requests = Array.from({ length: 50 }, () => signed('/v1/echo', new Uint8Array(7)));
    for (const request of requests) expect((await app.inject(request)).statusCode).toBe(200);
    for (const request of requests.slice(-5)) expect(codeOf(await app.inject(request))).toBe('replayed');
  });
});

describe('limits', () => {
  it('a device that asks too often waits, and is told how long', async () => {
    let now = NOW;
    const { app } = await serviceWith({ deviceLimit: { burst: 2, perSecond: 0.5 }, clock: () => now });
    const ask = () => app.inject(signed('/v1/look', undefined));
    expect([(await ask()).statusCode, (await ask()).statusCode]).toEqual([200, 200]);
    const answer = await ask();
    expect([codeOf(answer), answer.json().retryAfterMs, answer.headers['retry-after']]).toEqual([
      'rate-limited',
      2000,
      '2',
    ]);
    now += 2000;
    expect((await ask()).statusCode).toBe(200);
  });

  it('an address that asks too often waits, whatever it asks', async () => {
    const { app } = await serviceWith({ addressLimit: { burst: 1, perSecond: 1 } });
    expect((await app.inject('/v1/health')).statusCode).toBe(200);
    expect(codeOf(await app.inject('/v1/nowhere'))).toBe('rate-limited');
  });

  it('addresses of one IPv6 network count as one, and those of another do not', async () => {
    const { app } = await serviceWith({ addressLimit: { burst: 2, perSecond: 1 } });
    const from = async (remoteAddress: string) => (await app.inject({ url: '/v1/health', remoteAddress })).statusCode;
    expect([await from('2001:db8:1:2::1'), await from('2001:db8:1:2:ffff::9')]).toEqual([200, 200]);
    expect(await from('2001:db8:1:2:3:4:5:6')).toBe(429);
    expect(await from('2001:db8:1:3::1')).toBe(200);
    expect([await from('192.0.2.1'), await from('::ffff:192.0.2.1'), await from('192.0.2.1')]).toEqual([200, 200, 429]);
    expect(await from('192.0.2.2')).toBe(200);
  });

  it('a body beyond the limit of the route, or of the task, is refused', async () => {
    const { app } = await serviceWith({ bodyLimitBytes: 1000 });
    for (const length of [101, 1001]) {
      expect(codeOf(await app.inject(signed('/v1/echo', new Uint8Array(length))))).toBe('body-too-large');
    }
  });
});

describe('operators', () => {
  it.each([
    ['no token', {}, 'operator-token-missing'],
    ['a token nobody knows', { authorization: 'Bearer nobody' }, 'operator-token-missing'],
    ['a token with another role', { authorization: 'Bearer other' }, 'role-missing'],
  ])('%s is refused', async (_, headers, code) => {
    const { app } = await serviceWith();
    expect(codeOf(await app.inject({ url: '/v1/staff', headers }))).toBe(code);
  });

  it('a token with the role is served', async () => {
    const { app } = await serviceWith();
    expect((await app.inject({ url: '/v1/staff', headers: { authorization: `Bearer ${token}` } })).statusCode).toBe(
      200,
    );
  });
});

describe('a no', () => {
  it.each([
    ['refusal', 409, 'second-slot'],
    ['decode', 400, 'malformed'],
    ['full', 507, 'storage-full'],
    ['sqlite-full', 507, 'storage-full'],
    ['later', 409, 'task-paused'],
    ['else', 500, 'internal'],
  ])('after %s is a problem document with %d and %s', async (how, status, code) => {
    const { app } = await serviceWith();
    const answer = await app.inject(`/v1/fails/${how}`);
    expect([answer.statusCode, codeOf(answer)]).toEqual([status, code]);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.body).not.toContain('12345');
  });

  it('of a decoder or of a schema names the field', async () => {
    const { app } = await serviceWith();
    expect((await app.inject('/v1/fails/decode')).json().detail).toBe('ticket.slot: truncated');
    const post = (body: string) => {
      const request = signed('/v1/named', Buffer.from(body));
      return app.inject({ ...request, headers: { ...request.headers, 'content-type': 'application/json' } });
    };
    expect((await post('{"name":1}')).json().detail).toContain('body/name must be string');
    expect((await post('{"name":"a","extra":1}')).json().detail).toContain('"extra"');
    expect((await post('{"name":"a","id":"ABCD"}')).json().detail).toContain('body/id');
    for (const body of ['{', '{"__proto__":{},"name":"a"}']) {
      expect([body, codeOf(await post(body))]).toEqual([body, 'malformed']);
    }
  });

  it('tells a wrong method from a wrong address', async () => {
    const { app } = await serviceWith();
    expect(codeOf(await app.inject('/v1/nowhere'))).toBe('not-found');
    const wrong = await app.inject({ method: 'PUT', url: '/v1/fails/x?y=1' });
    expect([codeOf(wrong), wrong.headers.allow]).toEqual(['method-not-allowed', 'GET']);
  });

  it('answers bytes of an unknown type, and an address that does not decode', async () => {
    const { app } = await serviceWith();
    const xml = { method: 'POST' as const, url: '/v1/open', headers: { 'content-type': 'text/xml' }, payload: '<a/>' };
    expect(codeOf(await app.inject(xml))).toBe('malformed');
    expect(codeOf(await app.inject('/v1/fails/%zz'))).toBe('malformed');
  });
});

describe('a host name', () => {
  const asked = async (service: Service, host: string) => {
    const answer = await service.app.inject({ url: '/v1/look-at-me', headers: { host } });
    return codeOf(answer) === 'not-found' ? 'answered' : codeOf(answer);
  };

  it('that is not ours is refused with what to set, whatever is asked', async () => {
    const service = await serviceWith({ hosts: ['basa.example.org', 'Other.Example:8443'] });
    const refused = await service.app.inject({ url: '/v1/health', headers: { host: 'evil.example:7800' } });
    expect([refused.statusCode, codeOf(refused)]).toEqual([421, 'host-refused']);
    expect(refused.json().detail).toContain('"evil.example" is not known here; name it in `hosts`');
    for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:7', '[::1]:7800', 'basa.example.org', 'other.example.'])
      expect([host, await asked(service, host)]).toEqual([host, 'answered']);
    const others = [
      '127.evil.example',
      'localhost.evil.example',
      'basa.example.org.evil',
      '192.0.2.1',
      '[2001:db8::1]:1',
    ];
    for (const host of others) expect([host, await asked(service, host)]).toEqual([host, 'host-refused']);
  });

  it('is not asked of probes, nor of whoever sends none', async () => {
    const service = await serviceWith();
    const probe = await service.app.inject({ url: '/healthz', headers: { host: '10.0.0.7:80' } });
    expect(probe.statusCode).toBe(200);
    const { port } = new URL(await service.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('GET /v1/health HTTP/1.0\r\n\r\n'));
    expect(Buffer.concat((await socket.toArray()) as Buffer[]).toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('may be any address where the service listens at all of them, and no name', async () => {
    const service = await serviceWith();
    await service.listen({ host: '0.0.0.0', port: 0 });
    for (const host of ['192.0.2.1:7800', '[2001:db8::1]']) expect(await asked(service, host)).toBe('answered');
    expect(await asked(service, 'evil.example')).toBe('host-refused');
  });
});

describe('the service', () => {
  it('takes a request whose body is cut off for what it is: no failure of its own, and no stack in the log', async () => {
    const lines: string[] = [];
    const service = await serviceWith({ log: { level: 'info', stream: { write: (line) => void lines.push(line) } } });
    const { port } = new URL(await service.listen({ host: '127.0.0.1', port: 0 }));
    const { headers } = signed('/v1/echo', new Uint8Array(50));
    const head = Object.entries({ host: 'localhost', ...headers, 'content-length': '50' });
    const socket = connect(Number(port), '127.0.0.1');
    const lineOf = ([name, value]: [string, string]) => `${name}: ${value}\r\n`;
    socket.write(`POST /v1/echo HTTP/1.1\r\n${head.map(lineOf).join('')}\r\nhalf`);
    await vi.waitFor(() => expect(lines.join('')).toContain('incoming request'));
    socket.resetAndDestroy();
    await vi.waitFor(() => expect(lines.join('')).toContain('request refused'));
    expect(lines.join('')).toContain('"refused":"interrupted"');
    expect(lines.join('')).not.toContain('stack');
  });

  it('describes itself', async () => {
    const { app } = await serviceWith();
    const document = (await app.inject('/v1/openapi.json')).json();
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toContain('/v1/fails/{how}');
    expect(document.paths['/v1/echo'].post.requestBody.content).toHaveProperty(['application/octet-stream']);
    expect((await app.inject('/v1/health')).json()).toEqual({ status: 'ok' });
  });

  it('answers other origins only if it is configured to, with our headers', async () => {
    const preflight = {
      method: 'OPTIONS' as const,
      url: '/v1/echo',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
    };
    const plain = await serviceWith();
    expect((await plain.app.inject(preflight)).headers['access-control-allow-origin']).toBeUndefined();
    const { app } = await serviceWith({ corsOrigins: ['https://a.example'] });
    const answer = await app.inject(preflight);
    expect(answer.headers['access-control-allow-origin']).toBe('https://a.example');
    expect(answer.headers['access-control-allow-headers']).toContain('basa-signature');
    const other = await app.inject({ url: '/v1/health', headers: { origin: 'https://b.example' } });
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
    const got = await app.inject({ url: '/v1/health', headers: { origin: 'https://a.example' } });
    expect(got.headers['access-control-expose-headers']).toContain('basa-head');
  });

  it('logs no header, no query and no body', async () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => void lines.push(line) };
    const { app } = await serviceWith({ log: { level: 'trace', stream } });
    await app.inject({ url: '/v1/staff?key=hidden-query', headers: { authorization: `Bearer ${token}` } });
    const request = signed('/v1/echo', Buffer.from('hidden-body'));
    await app.inject(request);
    await app.inject('/v1/fails/else');
    const text = lines.join('');
    expect(text).toContain('/v1/echo');
    for (const secret of [token, 'hidden-query', 'hidden-body', request.headers['basa-signature'] as string]) {
      expect(text).not.toContain(secret);
    }
  });

  it('finishes what is under way when it stops, and takes nothing new', async () => {
    const service = await serviceWith();
    let finish = (): void => {};
    let arrived = (): void => {};
    const isUnderWay = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    service.app.get('/v1/slow', async () => {
      arrived();
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return { done: true };
    });
    const url = await service.listen({ host: '127.0.0.1', port: 0 });
    const slow = fetch(`${url}/v1/slow`);
    await isUnderWay;
    const stopped = service.close();
    expect(codeOf(await service.app.inject('/v1/health'))).toBe('stopping');
    await expect(fetch(`${url}/v1/health`)).rejects.toThrow();
    finish();
    expect(await (await slow).json()).toEqual({ done: true });
    await stopped;
  });

  it('tells who still asks while it stops to come back later, and closes the connection', async () => {
    const service = await serviceWith({ stopWithinMs: 900_000 });
    let finish = (): void => {};
    service.app.get('/v1/stream', async (_, reply) => {
      const body = new PassThrough();
      body.write('begun');
      finish = () => body.end();
      return reply.send(body);
    });
    const { port } = new URL(await service.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const chunks = [await new Promise<Buffer>((resolve) => socket.once('data', resolve))];
    const stopped = service.close();
    socket.write('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const rest = socket.toArray() as Promise<Buffer[]>; // until the service closes it
    await new Promise((resolve) => service.app.server.once('request', resolve));
    finish();
    const said = Buffer.concat([...chunks, ...(await rest)]).toString();
    expect(said).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 503 /s);
    expect(said).toMatch(/retry-after: 900\r\n/i);
    expect(said).toContain('urn:basa:problem:stopping');
    await stopped;
  });

  it('does not wait for connections that never carried a request when it stops', async () => {
    const service = await serviceWith({ stopWithinMs: 900_000 });
    const { port } = new URL(await service.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), '127.0.0.1');
    await new Promise((resolve) => service.app.server.once('connection', resolve));
    await service.close(); // a hang is the error
    socket.destroy();
  });

  it('speaks TLS where it is given a certificate', async () => {
    const service = await serviceWith({ tls: TEST_TLS });
    const url = await service.listen({ host: '127.0.0.1', port: 0 });
    expect(url).toMatch(/^https:/);
    const status = await new Promise((resolve, reject) => {
      get(`${url}/v1/health`, { ca: TEST_TLS.cert }, ({ statusCode }) => resolve(statusCode)).on('error', reject);
    });
    expect(status).toBe(200);
  });

  it('answers what is no HTTP with a problem document', async () => {
    const service = await serviceWith();
    const { port } = new URL(await service.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('this is not HTTP\r\n\r\n'));
    const chunks: Buffer[] = await socket.toArray();
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 400 .*"urn:basa:problem:malformed"/s);
  });

  it('says that a port is taken', async () => {
    const first = await serviceWith();
    const port = Number(new URL(await first.listen({ host: '127.0.0.1', port: 0 })).port);
    const second = await serviceWith();
    await expect(second.listen({ host: '127.0.0.1', port })).rejects.toMatchObject({
      reason: 'address',
      message: `port ${port} of 127.0.0.1 is taken; stop who uses it or choose another port`,
    });
  });
});
