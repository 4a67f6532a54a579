/** The host names that a service answers to, and the heads of requests that it reads at all. */
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Service } from '../../src/index.ts';
import { codeOf, serviceWith } from './test-service.ts';

describe('a host name', () => {
  const asked = async (service: Service, host: string) => {
    const answer = await service.app.inject({ url: '/v1/look-at-me', headers: { host } });
    return codeOf(answer) === 'not-found' ? 'answered' : codeOf(answer);
  };

  it('that is not ours is refused with what to set, whatever is asked', async () => {
    const service = await serviceWith({ hosts: ['basa.example.org', 'Other.Example:8443'] });
    const refused = await service.app.inject({ url: '/v1/health', headers: { host: 'evil.example:7800' } });
    expect([refused.statusCode, codeOf(refused)]).toEqual([421, 'host-refused']);
    expect(refused.json().detail).toContain('"evil.example" is not a known host name; add it to `hosts`');
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

describe('the head of a request', () => {
  const EXPECT = ['POST /v1/open HTTP/1.1', 'Host: localhost', 'Expect: 100-continue', 'Content-Length: 2'];

  /** The status and the detail with which these lines are answered. */
  async function answerTo(service: Service, lines: readonly string[]): Promise<readonly [number, string | undefined]> {
    const { port } = service.app.server.address() as AddressInfo;
    const head = [...lines, 'Connection: close', '', ''].join('\r\n');
    const socket = connect(port, '127.0.0.1', () => socket.write(head));
    const answer = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
    const [, status, body = ''] = /^HTTP\/1\.1 (\d+).*?\r\n\r\n(.*)$/s.exec(answer) ?? [];
    return [Number(status), body.startsWith('{') ? JSON.parse(body).detail : undefined];
  }

  async function listening(): Promise<Service> {
    const service = await serviceWith();
    await service.listen({ host: '127.0.0.1', port: 0 });
    return service;
  }

  it('without a host, or with two, is refused, also by probes and when its body waits', async () => {
    const service = await listening();
    expect((await answerTo(service, ['GET /v1/health HTTP/1.1']))[0]).toBe(400);
    for (const lines of [
      ['GET /v1/health HTTP/1.1', 'Host: localhost'],
      ['GET /healthz HTTP/1.1', 'Host: localhost'],
      EXPECT,
    ])
      for (const second of ['host: localhost', 'HOST: evil.example'])
        expect(await answerTo(service, [...lines, second])).toEqual([400, 'more than one Host header; send one']);
  });

  it('with more than 100 lines is refused, wherever its host stands', async () => {
    const service = await listening();
    const head = ['GET /v1/health HTTP/1.1', 'Host: localhost'];
    const more = (many: number): string[] => Array.from({ length: many }, (_, n) => `x-${n}: 1`);
    const ours = 2; // Host and Connection
    expect((await answerTo(service, [...head, ...more(100 - ours)]))[0]).toBe(200);
    for (const many of [101 - ours, 150, 1500])
      expect(await answerTo(service, [...head, ...more(many)])).toEqual([
        400,
        expect.stringMatching(/100 header|could not be read/), // Node 26 refuses it before we do
      ]);
    const [asked = '', host = ''] = head;
    expect((await answerTo(service, [asked, ...more(1500), host]))[0]).toBe(400);
  });

  it('that asks for another host than its header names is refused', async () => {
    const service = await listening();
    const [status, detail] = await answerTo(service, ['GET http://evil.example/v1/health HTTP/1.1', 'Host: localhost']);
    expect([status, detail]).toEqual([400, expect.stringContaining('not a path')]);
  });
});
