/** Services that are slow, busy, unreachable, or live in another time. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AuthorityOperator } from '@basa/client/operator';
import { TEST_TLS as TLS } from '@basa/testkit/services/tls.ts';
import { describe, expect, it } from 'vitest';
import { UnreachableError } from '../src/node/index.ts';
import { connectTo, deltaOf } from './support/connect.ts';
import { type Asked, problem } from './support/services.ts';
import { accepted, startClient, startServices } from './support/setup.ts';

const once = <T>(value: T, isMeant: (asked: Asked) => boolean): ((asked: Asked) => T | undefined) => {
  let isUsed = false;
  return (asked) => {
    if (isUsed || !isMeant(asked)) return undefined;
    isUsed = true;
    return value;
  };
};

it('the words of a service do not control a terminal', async () => {
  const services = await startServices();
  const client = await startClient(services);
  const said = { title: 'n\x1b[2Jo\n', detail: '\u202eyes\x07' };
  const body = { type: 'urn:basa:problem:of-tomorrow', ...said };
  services.mischief = { before: () => ({ status: 403, headers: {}, body: Buffer.from(JSON.stringify(body)) }) };
  await expect(client.model()).rejects.toMatchObject({
    message: expect.stringMatching(/^[\x20-\x7e]+$/),
    detail: ' yes ',
  });
});

describe('a request', () => {
  it('is sent again not before the service asks for it', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const waits: number[] = [];
    client.on('retry', ({ waitMs }) => waits.push(waitMs));
    services.mischief = {
      before: once(problem('rate-limited', { retryAfterMs: 120 }), ({ path }) => path.includes('/shots/')),
    };
    const start = performance.now();
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(120);
    expect(performance.now() - start).toBeGreaterThanOrEqual(119);
  });

  it('follows Retry-After of a proxy that knows no problem documents', async () => {
    const services = await startServices();
    const client = await startClient(services, { retry: { longestWaitMs: 5000 } });
    const waits: number[] = [];
    client.on('retry', ({ waitMs }) => waits.push(waitMs));
    const busy = { status: 503, headers: { 'retry-after': '1' }, body: Buffer.from('<h1>busy</h1>') };
    services.mischief = { before: once(busy, ({ path }) => path.includes('/models/')) };
    await client.model();
    expect(waits[0]).toBeGreaterThanOrEqual(1000);
  });

  it('that must wait for long is rejected with the time of the next try', async () => {
    const services = await startServices();
    const client = await startClient(services);
    services.mischief = {
      before: ({ path }) => (path.endsWith('/admissions') ? problem('no-place', { retryAfterMs: 9e5 }) : undefined),
    };
    expect(await client.admission()).toEqual({
      kind: 'rejected',
      reason: 'no-place',
      update: 'free',
      retryAfterMs: 9e5,
    });
  });

  it('that is refused at great length is not read to the end', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const endless = { status: 403, headers: {}, body: Buffer.alloc(65_537, ' ') };
    services.mischief = { before: ({ path }) => (path.includes('/models/') ? endless : undefined) };
    await expect(client.model()).rejects.toThrow('an endless refusal');
  });

  it('that is wrong is not sent again', async () => {
    const services = await startServices();
    const client = await startClient(services);
    services.mischief = {
      before: ({ path }) => (path.endsWith('/admissions') ? problem('malformed', { detail: 'no' }) : undefined),
    };
    await expect(client.admission()).rejects.toMatchObject({
      name: 'ProblemError',
      code: 'malformed',
      status: 400,
      detail: 'no',
    });
    expect(services.count('/admissions')).toBe(1);
  });

  it('waits longer and longer, by chance, up to a limit', async () => {
    const services = await startServices();
    const client = await startClient(services, {
      retry: { attempts: 9, firstWaitMs: 4, longestWaitMs: 32, timeoutMs: 2000 },
    });
    const waits: number[] = [];
    client.on('retry', ({ waitMs }) => waits.push(waitMs));
    services.mischief = { before: () => 'lost' };
    await expect(client.model()).rejects.toBeInstanceOf(UnreachableError);
    expect(waits).toHaveLength(8);
    for (const [n, wait] of waits.entries()) expect(wait).toBeLessThan(Math.min(32, 4 * 2 ** n));
  });
});

describe('a service', () => {
  it('that stays silent counts as unreachable after the time-out, and the request is repeated', async () => {
    const services = await startServices();
    const client = await startClient(services, { retry: { attempts: 2, firstWaitMs: 1, timeoutMs: 100 } });
    let isSilent = true;
    services.mischief = {
      before: () =>
        isSilent ? new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 400)) : undefined,
    };
    const error = await client.model().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(String(error)).toContain('silent for 100 ms');
    isSilent = false;
    // A busy machine may be silent for 100 ms as well.
    const version = () => client.model().then((model) => model.version, String);
    await expect.poll(version, { timeout: 600_000 }).toBe(0);
  });

  it('that goes away during the upload and comes back finds the session as it was', async () => {
    const services = await startServices();
    const client = await startClient(services, { retry: { attempts: 2, firstWaitMs: 1 } });
    services.mischief = { before: ({ path }) => (path.includes('/shots/') ? 'lost' : undefined) };
    await expect(client.contribute(deltaOf(1), { trainedOn: 0 })).rejects.toBeInstanceOf(UnreachableError);
    services.mischief = {};
    expect(client.isInterrupted).toBe(true);
    accepted(await client.resume());
  });

  it('that does not listen is named in the error', async () => {
    const services = await startServices();
    const retry = { attempts: 2, firstWaitMs: 1 };
    await expect(connectTo(services, { authority: 'http://127.0.0.1:9', retry })).rejects.toThrow(
      'the authority does not answer',
    );
    await expect(connectTo(services, { server: 'http://127.0.0.1:9', retry })).rejects.toThrow(
      'the server does not answer',
    );
  });

  it.each([3_600_000, -3_600_000])(
    'whose clock differs by %d ms is not followed, and the message has its time',
    async (ms) => {
      const services = await startServices();
      const client = await startClient(services);
      services.world.elapse(ms);
      const time = new Date(services.world.now).toISOString().slice(0, 13);
      await expect(client.admission()).rejects.toMatchObject({
        code: 'clock-skew',
        message: expect.stringContaining(`its time is ${time}`),
      });
      expect(services.count('/admissions')).toBe(1);
    },
  );

  it('that sends its answer byte by byte is given up after the time-out', async () => {
    const services = await startServices();
    const drips = createServer((_, reply) => {
      reply.writeHead(200);
      const timer = setInterval(() => reply.write(' '), 20);
      reply.on('close', () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => drips.listen(0, '127.0.0.1', resolve));
    const authority = `http://127.0.0.1:${(drips.address() as AddressInfo).port}`;
    const retry = { attempts: 1, timeoutMs: 300 };
    await expect(connectTo(services, { authority, retry })).rejects.toBeInstanceOf(UnreachableError);
    const operator = new AuthorityOperator({ url: authority, token: undefined, timeoutMs: 300 });
    await expect(operator.tasks()).rejects.toBeInstanceOf(UnreachableError);
    drips.closeAllConnections();
    await new Promise((resolve) => drips.close(resolve));
  });
});

describe('over TLS', () => {
  it('a client that is given the CA contributes', async () => {
    const services = await startServices({ tls: TLS });
    const client = await startClient(services, { tls: { ca: TLS.cert } });
    accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
  });

  it('an untrusted certificate is refused immediately, and the message gives advice', async () => {
    const services = await startServices({ tls: TLS });
    const retry = { attempts: 5, firstWaitMs: 60_000 };
    await expect(connectTo(services, { retry })).rejects.toThrow('is not trusted');
    await expect(connectTo(services, { retry })).rejects.toMatchObject({ name: 'CertificateError' });
  });
});
