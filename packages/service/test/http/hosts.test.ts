/** Which host names a service answers to. */
import { connect } from 'node:net';
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
