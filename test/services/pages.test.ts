/** The pages of a server: under a strict policy, with a stream of events, and nothing for pages of other origins. */
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import type { LiveState } from '@basa/protocol/internal/http/live.ts';
import { nodeSuite } from '@basa/runtime/node';
import { oneHot, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const pages = mkdtempSync(join(tmpdir(), 'basa-pages-'));
mkdirSync(join(pages, 'site/parts'), { recursive: true });
mkdirSync(join(pages, 'shares'));
writeFileSync(join(pages, 'site/index.html'), '<!doctype html><title>x</title>');
writeFileSync(join(pages, 'site/parts/a.js'), 'export {};');
writeFileSync(join(pages, 'site/.secret'), 'no page');
writeFileSync(join(pages, 'shares/0.safetensors'), 'data');
let services: TestServices;

beforeAll(async () => {
  const shown = { folder: join(pages, 'site'), sharesFolder: join(pages, 'shares') };
  services = await TestServices.open({
    server: { pages: shown, corsOrigins: ['https://a.example'] },
    specification: { stop: { accuracy: 0.9, version: 50 }, publicModels: true },
  });
});
afterAll(() => services.close());

const ask = (path: string, headers: Record<string, string> = {}) => fetch(services.server.url + path, { headers });

/** Reads the stream until a state satisfies the question. */
async function watch(isIt: (state: LiveState) => boolean): Promise<LiveState> {
  const stopped = new AbortController();
  const answer = await fetch(services.server.url + SERVER_PATH.events(services.task), { signal: stopped.signal });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  try {
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        const data = /^data: (.*)$/m.exec(message)?.[1];
        const state = data === undefined ? undefined : (JSON.parse(data) as LiveState);
        if (state !== undefined && isIt(state)) return state;
      }
    }
  } finally {
    stopped.abort();
  }
  throw new Error('the stream ended');
}

describe('HEAD', () => {
  it.each([
    ['a page', () => '/'],
    ['a part of a page', () => '/parts/a.js'],
    ['a task', () => SERVER_PATH.task(services.task)],
    ['the newest model', () => SERVER_PATH.model(services.task, 0)],
    ['the event stream, which ends at once', () => SERVER_PATH.events(services.task)],
  ])('is answered for %s as GET is, without a body', async (_, path) => {
    const stopped = new AbortController();
    const got = await fetch(services.server.url + path(), { signal: stopped.signal });
    stopped.abort();
    const asked = await fetch(services.server.url + path(), { method: 'HEAD' });
    expect([asked.status, asked.headers.get('content-type')]).toEqual([200, got.headers.get('content-type')]);
    expect(await asked.text()).toBe('');
  });
});

describe('pages', () => {
  it('come with a policy that allows no inline script, no other host, no frame around them, and wasm', async () => {
    const answer = await ask('/');
    expect(answer.headers.get('content-type')).toContain('text/html');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
    expect(policy).toContain(`connect-src 'self' ${services.authority.url}`);
    expect(policy).not.toMatch(/'unsafe-|\*/);
    for (const rule of ["object-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])
      expect(policy).toContain(rule);
    const others = [
      'x-content-type-options',
      'referrer-policy',
      'cross-origin-opener-policy',
      'cross-origin-resource-policy',
    ];
    expect(others.map((name) => answer.headers.get(name))).toEqual([
      'nosniff',
      'no-referrer',
      'same-origin',
      'same-origin',
    ]);
    const script = await ask('/parts/a.js');
    expect(script.headers.get('content-type')).toContain('text/javascript');
    expect(script.headers.get('content-security-policy')).toBe(policy); // a worker takes its own
    expect((await ask('/', { 'if-none-match': answer.headers.get('etag') ?? '' })).status).toBe(304);
  });

  it('are the files of the folder, and no other file', async () => {
    for (const path of ['/.secret', '/parts', '/parts/%2e%2e%2fshares/0.safetensors', '/nothing.html'])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    expect(await (await ask(SERVER_PATH.page)).json()).toEqual({
      authority: services.authority.url,
      shares: ['/shares/0.safetensors'],
      handsOutTokens: false,
    });
    expect((await fetch(services.server.url + SERVER_PATH.pageTokens(services.task), { method: 'POST' })).status).toBe(
      404,
    );
    expect(await (await ask('/shares/0.safetensors')).text()).toBe('data');
  });

  it('of other origins are always refused', async () => {
    const other = await ask(SERVER_PATH.tasks, { origin: 'https://b.example' });
    expect([other.status, ((await other.json()) as { type: string }).type]).toEqual([
      403,
      'urn:basa:problem:origin-refused',
    ]);
    expect((await ask(SERVER_PATH.tasks, { origin: 'null' })).status).toBe(403);
    expect((await ask(SERVER_PATH.tasks, { origin: 'https://a.example' })).status).toBe(200);
    expect((await ask(SERVER_PATH.tasks, { origin: services.server.url })).status).toBe(200);
  });

  it('hand out each token of the folder once, and only those of the task that is asked for', async () => {
    const tokensFolder = join(pages, 'tokens');
    await services.restartServer({ pages: { folder: join(pages, 'site'), tokensFolder } });
    const take = (task: string) => fetch(services.server.url + SERVER_PATH.pageTokens(task), { method: 'POST' });
    expect((await take(services.task)).status).toBe(404);
    for (const [task, token] of [
      [services.task, 'one'],
      [services.task, 'two'],
      ['0'.repeat(64), 'other'],
    ] as const) {
      mkdirSync(join(tokensFolder, task), { recursive: true });
      writeFileSync(join(tokensFolder, task, token), '');
    }
    expect(await (await ask(SERVER_PATH.page)).json()).toMatchObject({ handsOutTokens: true });
    const answers = await Promise.all([1, 2, 3].map(() => take(services.task)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 404]);
    const given = await Promise.all(answers.filter(({ ok }) => ok).map((answer) => answer.json()));
    expect(given.map(({ token }) => token).sort()).toEqual(['one', 'two']);
    expect(readdirSync(join(tokensFolder, services.task))).toEqual([]);
    await services.restartServer();
  });

  it('show strangers the stream only of a task whose models are public', async () => {
    const shown = services.task;
    const events = SERVER_PATH.events(await services.createTask({}, { publicModels: false }));
    services.task = shown;
    expect((await ask(events)).status).toBe(401);
    expect((await ask(events, { authorization: 'Bearer somebody' })).status).toBe(401);
    const answer = await ask(events, { authorization: `Bearer ${OPERATOR_TOKEN}` });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await answer.body?.cancel();
  });

  it('let one address have a few streams and no more, and others in all the same', async () => {
    await services.restartServer({ pages: { folder: join(pages, 'site') }, trustedProxies: 1 });
    const stopped = new AbortController();
    const from = (address: string) =>
      fetch(services.server.url + SERVER_PATH.events(services.task), {
        headers: { 'x-forwarded-for': address },
        signal: stopped.signal,
      });
    const address = (n: number): string => `2001:db8:1:2::${n.toString(16)}`; // of one network
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => from(address(n))));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBe(80);
    expect(refused[0]?.headers.get('retry-after')).toBe('10');
    expect(await refused[0]?.json()).toMatchObject({ detail: expect.stringContaining('close some pages') });
    expect((await from('2001:db8:1:3::1')).status).toBe(200);
    stopped.abort();
    await until(async () => {
      const again = await ask(SERVER_PATH.events(services.task), { 'x-forwarded-for': address(1) });
      await again.body?.cancel();
      return again.status === 200;
    });
    await services.restartServer();
  });

  it('are not there by default, and nor is the stream', async () => {
    const plain = await TestServices.open();
    try {
      for (const path of ['/', SERVER_PATH.events(plain.task), SERVER_PATH.page])
        expect((await fetch(plain.server.url + path)).status).toBe(404);
    } finally {
      await plain.close();
    }
  });
});

describe('the event stream', () => {
  it('shows batches, versions, steps and refusals, and names no participant', async () => {
    expect((await watch(() => true)).versions).toMatchObject([{ version: 0 }]);
    const clients = await Promise.all(['a', 'b', 'c'].map((name) => services.client(name)));
    const first = watch(({ batches }) => batches.some(({ accepted }) => accepted > 0));
    for (const [place, client] of clients.entries()) {
      await client.contribute(oneHot(place), { trainedOn: (await client.model()).version });
      if (place === 0)
        expect((await first).batches[0]).toMatchObject({ status: 'filling', bufferSize: 3, version: 0, accepted: 1 });
    }
    await services.reached(1);
    await ask(SERVER_PATH.task('0'.repeat(64)));
    const state = await watch(({ refusals, versions }) => refusals['task-unknown'] === 1 && versions.length === 2);
    expect(state.batches[0]).toMatchObject({ status: 'included', version: 0 });
    expect(state.versions).toMatchObject([{ version: 0 }, { version: 1, accepted: 3, dropped: 0, meanAge: 0 }]);
    expect(state.stop).toEqual({ accuracy: 0.9, version: 50 });
    expect(state.admission).toMatchObject({ places: 9, used: 0, waitingBatches: 0 });
    expect(state.steps.upload).toMatchObject({ answers: 3 });
    expect(state.steps.upload.received).toBeGreaterThan(3 * 8 * 4);
    expect(Object.fromEntries(state.fetches)).toMatchObject({ 0: 3 });
    const text = JSON.stringify(state);
    for (const { deviceKey } of clients)
      for (const name of [deviceKey, nodeSuite.sha256(deviceKey)]) expect(text).not.toContain(toHex(name));
  });

  it('shows a state that an operator set while nothing else happens', async () => {
    const set = (state: string) =>
      services.operate(services.server.url, 'PUT', SERVER_PATH.taskState(services.task), { state });
    let heard = 0;
    await watch(({ state }) => {
      if (heard++ === 0) void set('paused'); // the stream is open by now
      return state === 'paused';
    });
    await set('running');
  });

  it('ends with the server, which does not wait for its listeners', async () => {
    const answer = await fetch(services.server.url + SERVER_PATH.events(services.task));
    await services.restartServer();
    for await (const _ of answer.body as unknown as AsyncIterable<Uint8Array>);
    expect((await watch(() => true)).versions.at(-1)).toMatchObject({ version: 1 });
  });

  it('shows the batches of the last versions after a restart as before it', async () => {
    const { batches } = await watch(() => true);
    expect(batches).toMatchObject([{ status: 'included', version: 0, accepted: 3 }]);
    await services.restartServer();
    expect((await watch(() => true)).batches).toEqual(batches);
  });
});
