/** An operator's request to a service that has too much to do. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AuthorityOperator, ProblemError, ServerOperator } from '@basa/client/operator';
import { afterEach, expect, it } from 'vitest';

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

/** Puts off this many requests, then answers. */
async function busyServer(putOff: number): Promise<{ readonly url: string; asked: number }> {
  const state = { url: '', asked: 0 };
  const server = createServer((_, answer) => {
    const isPutOff = ++state.asked <= putOff;
    answer.writeHead(isPutOff ? 503 : 200, { 'retry-after': '0', 'content-type': 'application/problem+json' });
    answer.end(JSON.stringify(isPutOff ? { type: 'urn:basa:problem:overloaded', status: 503 } : { publicKey: 'aa' }));
  });
  state.url = await listening(server);
  return state;
}

async function listening(server: Server): Promise<string> {
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('is made again when the service says so', async () => {
  const server = await busyServer(2);
  const about = await new ServerOperator({ url: server.url, token: undefined }).about();
  expect([about.publicKey, server.asked]).toEqual(['aa', 3]);
});

it('is given up after six tries, or immediately if its signal ends it', async () => {
  const server = await busyServer(100);
  const asked = new ServerOperator({ url: server.url, token: undefined }).about();
  await expect(asked).rejects.toThrow(ProblemError);
  expect(server.asked).toBe(6);
  const stopped = new ServerOperator({
    url: server.url,
    token: undefined,
    signal: AbortSignal.abort(new Error('stop')),
  });
  await expect(stopped.about()).rejects.toThrow('stop');
});

it('has no token if anybody may make it', async () => {
  const tokens: (string | undefined)[] = [];
  const server = createServer(({ headers }, answer) => {
    tokens.push(headers.authorization);
    answer.end('{"tasks":[]}');
  });
  const url = await listening(server);
  const operator = new AuthorityOperator({ url, token: 'token' });
  await operator.publicKeys();
  await operator.tasks();
  expect(tokens).toEqual([undefined, 'Bearer token']);
});

it('ends if the list of devices of an authority has no end', async () => {
  let pages = 0;
  const server = createServer((_, answer) => {
    pages++;
    answer.end(JSON.stringify({ devices: [], next: 'aa' }));
  });
  const url = await listening(server);
  const devices = new AuthorityOperator({ url, token: undefined }).devices('ab'.repeat(32));
  await expect(devices).rejects.toThrow('no end');
  expect(pages).toBe(2);
});

it('goes over plain http only to this machine, unless the operator allows more', () => {
  const to = { url: 'http://basa.example', token: 'token' };
  for (const of of [ServerOperator, AuthorityOperator]) {
    expect(() => new of(to)).toThrow(expect.objectContaining({ reason: 'plain-http' }));
    expect(() => new of({ ...to, unsafeAllowPlainHttp: true })).not.toThrow();
  }
});

it('follows no redirect, and reads no answer without an end', async () => {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, answer) => {
    asked.push(url);
    if (url.startsWith('/v1/tasks')) answer.writeHead(307, { location: '/elsewhere' }).end();
    const part = new Uint8Array(2 ** 22).fill(32);
    const more = (): void => void (answer.write(part, (error) => error ?? more()) as unknown);
    if (url === '/v1/server') more();
  });
  const url = await listening(server);
  const operator = new ServerOperator({ url, token: 'token' });
  await expect(operator.tasks()).rejects.toMatchObject({ code: 'unknown-problem', status: 307 });
  await expect(operator.about()).rejects.toThrow('more than 268435456 bytes');
  expect(asked).toEqual(['/v1/tasks', '/v1/server']);
  server.closeAllConnections();
});
