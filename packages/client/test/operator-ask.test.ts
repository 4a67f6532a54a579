/** An operator's request to a service that has too much to do. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AuthorityOperator, ProblemError, ServerOperator } from '@basa/client/operator';
import { GOOD_POLICY } from '@basa/testkit/vectors/policies.ts';
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
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
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
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const operator = new AuthorityOperator({ url, token: 'token' });
  const line = { policy: GOOD_POLICY, terms: [] };
  await operator.publicKeys();
  await operator.heads();
  await operator.showLine('ab'.repeat(32), line);
  await expect(operator.line('ab'.repeat(32))).rejects.toThrow('line');
  await operator.tasks();
  expect(tokens).toEqual([undefined, undefined, undefined, undefined, 'Bearer token']);
});

it('ends if the list of devices of an authority has no end', async () => {
  let pages = 0;
  const server = createServer((_, answer) => {
    pages++;
    answer.end(JSON.stringify({ devices: [], next: 'aa' }));
  });
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const devices = new AuthorityOperator({ url, token: undefined }).devices('ab'.repeat(32));
  await expect(devices).rejects.toThrow('no end');
  expect(pages).toBe(2);
});
