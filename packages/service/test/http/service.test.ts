/** A service as a whole: what it logs, how it describes itself, how it listens and how it stops. */
import { get } from 'node:https';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { TEST_TLS } from '@basa/testkit/services/tls.ts';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/index.ts';
import { codeOf, NOW, serviceWith, signed, token } from './test-service.ts';

describe('the service', () => {
  it('takes a request whose body is cut off for what it is: no failure of its own, and no stack in the log', async () => {
    const lines: string[] = [];
    const service = await serviceWith({ log: { level: 'debug', stream: { write: (line) => void lines.push(line) } } });
    const { port } = new URL(await service.listen({ host: '127.0.0.1', port: 0 }));
    const { headers } = signed('/v1/echo', new Uint8Array(50));
    const head = Object.entries({ host: 'localhost', ...headers, 'content-length': '50' });
    const socket = connect(Number(port), '127.0.0.1');
    const lineOf = ([name, value]: [string, string]) => `${name}: ${value}\r\n`;
    socket.write(`POST /v1/echo HTTP/1.1\r\n${head.map(lineOf).join('')}\r\nhalf`);
    await expect.poll(() => lines.join('')).toContain('incoming request');
    socket.resetAndDestroy();
    await expect.poll(() => lines.join('')).toContain('request refused');
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

  it('answers HEAD wherever it answers GET: the same head, and no body', async () => {
    const { app } = await serviceWith();
    const head = async (url: string) => {
      const [got, asked] = [await app.inject(url), await app.inject({ method: 'HEAD', url })];
      expect([url, asked.statusCode, asked.body]).toEqual([url, got.statusCode, '']);
      expect(asked.headers['content-type']).toBe(got.headers['content-type']);
    };
    for (const url of ['/v1/health', '/v1/openapi.json', '/healthz', '/readyz']) await head(url);
    const { paths } = (await app.inject('/v1/openapi.json')).json();
    expect(paths['/v1/health']).not.toHaveProperty('head');
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
    expect(got.headers['access-control-expose-headers']).toContain('upload-offset');
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
    const metrics = createMetrics('server');
    const service = await serviceWith({ tls: TEST_TLS, metrics });
    const url = await service.listen({ host: '127.0.0.1', port: 0 });
    expect(url).toMatch(/^https:/);
    const status = await new Promise((resolve, reject) => {
      get(`${url}/v1/health`, { ca: TEST_TLS.cert }, ({ statusCode }) => resolve(statusCode)).on('error', reject);
    });
    expect(status).toBe(200);
    const days = (Date.parse('2126-10-22T06:49:30Z') - NOW) / 86_400_000;
    expect(await metrics.text()).toContain(`basa_tls_days_left ${days}\n`);
  });

  it('has no days of a certificate without TLS', async () => {
    const metrics = createMetrics('server');
    await serviceWith({ metrics });
    expect(await metrics.text()).toMatch(/^basa_tls_days_left Nan$/im);
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
      message: `port ${port} of 127.0.0.1 is in use; stop the program that uses it, or choose another port (basa dev: --server-port, --authority-port)`,
    });
  });
});
