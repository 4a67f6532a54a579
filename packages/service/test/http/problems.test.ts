/** The form of a service's refusal, and the data that is never in it. */
import { describe, expect, it } from 'vitest';
import { codeOf, serviceWith, signed } from './test-service.ts';

describe('a no', () => {
  it.each([
    ['refusal', 409, 'second-position'],
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
    expect((await app.inject('/v1/fails/decode')).json().detail).toBe('ticket.position: truncated');
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
    expect([codeOf(wrong), wrong.headers.allow]).toEqual(['method-not-allowed', 'GET, HEAD']);
  });

  it('answers bytes of an unknown type, and an address that does not decode', async () => {
    const { app } = await serviceWith();
    const xml = { method: 'POST' as const, url: '/v1/open', headers: { 'content-type': 'text/xml' }, payload: '<a/>' };
    expect(codeOf(await app.inject(xml))).toBe('malformed');
    expect(codeOf(await app.inject('/v1/fails/%zz'))).toBe('malformed');
  });
});
