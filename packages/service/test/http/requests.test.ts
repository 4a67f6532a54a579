/** Requests to a service: who signed them, how many there may be, and who is an operator. */
import { toHex } from '@basa/masking';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { codeOf, device, NOW, serviceWith, signed, token } from './test-service.ts';

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

  it('with a target that is longer than any of ours is refused, before its signature is looked at', async () => {
    const { app } = await serviceWith();
    const answer = await app.inject({ ...signed('/v1/look', undefined), url: `/v1/look?${'x'.repeat(1024)}` });
    expect([codeOf(answer), answer.json().detail]).toEqual(['malformed', 'target: not ASCII, or too long']);
  });

  it('to another service does not count here', async () => {
    const { app } = await serviceWith({ audience: nodeRandomBytes(32) });
    expect(codeOf(await app.inject(signed('/v1/look', undefined)))).toBe('request-signature-invalid');
  });

  it('of another time is refused with the time of the service', async () => {
    const { app } = await serviceWith();
    for (const at of [NOW - 300_001, NOW + 300_001]) {
      const answer = await app.inject(signed('/v1/look', undefined, { at }));
      expect([codeOf(answer), answer.json().detail]).toEqual([
        'clock-skew',
        `its time is ${new Date(NOW).toISOString()}`,
      ]);
    }
    expect((await app.inject(signed('/v1/look', undefined, { at: NOW - 300_000 }))).statusCode).toBe(200);
  });

  it('whose body is JSON where bytes are expected, or is missing, is refused', async () => {
    const { app } = await serviceWith();
    const json = signed('/v1/echo', Buffer.from('{}'));
    const { payload: _, ...bare } = signed('/v1/echo', new Uint8Array());
    const { 'content-type': __, ...headers } = bare.headers;
    for (const request of [
      { ...json, headers: { ...json.headers, 'content-type': 'application/json' } },
      { ...bare, headers },
    ])
      expect(codeOf(await app.inject(request))).toBe('malformed');
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

  it('that has no body where none is needed, but was signed for one, is refused', async () => {
    const { app } = await serviceWith();
    const { payload: _, ...leftOut } = signed('/v1/look', new Uint8Array(7), { method: 'GET' });
    expect(codeOf(await app.inject(leftOut))).toBe('digest-mismatch');
    const { payload: __, ...ofNothing } = signed('/v1/look', new Uint8Array(), { method: 'GET' });
    expect((await app.inject(ofNothing)).statusCode).toBe(200);
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
