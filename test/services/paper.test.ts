/** The mode of the paper over the network: one user after the other, behind an option that says what it is. */
import type { BasaClient } from '@basa/client/node';
import { unsafePaperContribute } from '@basa/client/unsafe-paper';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { AT_ONCE } from '@basa/testkit/services/held-upload.ts';
import { countsOf, oneHot, PAPER, TestServices, testPolicy } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open(PAPER);
});
afterAll(() => services.close());

it('three users in a row make the model move by their mean, and a restart in between changes nothing', async () => {
  for (const [n, name] of ['a', 'b', 'c'].entries()) {
    const client = await services.client(name);
    const contribution = await unsafePaperContribute(client, oneHot(n), { trainedOn: 0 });
    expect(contribution).toMatchObject({ kind: 'accepted', position: n });
    if (n === 1) await services.restartServer();
  }
  expect(countsOf(await services.reached(1), 3)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
});

it('a user who takes the turn and goes silent delays the others, until another user gets its position', async () => {
  await services.createTask();
  const proxy = await services.proxy();
  const silent = await services.client('silent', { server: proxy.url, retry: AT_ONCE });
  let upload: { body: Uint8Array; path: string } | undefined;
  proxy.onAsk = (asked) => {
    if (!asked.path.endsWith('/upload')) return undefined;
    upload = asked;
    return 'cut';
  };
  await expect(unsafePaperContribute(silent, oneHot(7), { trainedOn: 0 })).rejects.toThrow('does not answer');
  const [b, c, d] = await Promise.all(['b', 'c', 'd'].map((name) => services.client(name, { retry: AT_ONCE })));
  const turn = () => unsafePaperContribute(b as BasaClient, oneHot(0), { trainedOn: 0 });
  expect(await turn()).toMatchObject({ reason: 'lease-taken', update: 'free' });
  services.elapse(services.policy.uploadLeaseMs + 1);
  expect(await turn()).toMatchObject({ kind: 'accepted', position: 0 });
  expect(upload?.body.length).toBeGreaterThan(0);
  proxy.behave();
  expect(await unsafePaperContribute(c as BasaClient, oneHot(1), { trainedOn: 0 })).toMatchObject({
    kind: 'accepted',
    position: 1,
  });
  expect(await unsafePaperContribute(d as BasaClient, oneHot(2), { trainedOn: 0 })).toMatchObject({
    kind: 'accepted',
    position: 2,
  });
  expect(countsOf(await services.reached(1), 3)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
});

it('a task in one-shot mode is not served in this one', async () => {
  const { oneShot, engine } = testPolicy(services.keys);
  await services.createTask({ engine, oneShot }, { mode: 'one-shot' });
  const client = await services.client('a');
  await expect(unsafePaperContribute(client, oneHot(0), { trainedOn: 0 })).rejects.toThrow('does not use paper mode');
});

it('without the option neither service has its routes', async () => {
  const safe = await TestServices.open();
  try {
    for (const [url, method, path] of [
      [safe.server.url, 'POST', SERVER_PATH.unsafePaperConnect(safe.task)],
      [safe.server.url, 'POST', SERVER_PATH.unsafePaperUpload(safe.task)],
      [safe.authority.url, 'GET', AUTHORITY_PATH.unsafePaperSealingKey(safe.task)],
      [safe.authority.url, 'POST', AUTHORITY_PATH.unsafePaperKeys(safe.task)],
    ] as const)
      expect((await fetch(new URL(path, url), { method })).status).toBe(404);
    const refused = safe.createTask({}, { mode: 'paper' });
    await expect(refused).rejects.toThrow('needs unsafePaperMode in the configuration');
  } finally {
    await safe.close();
  }
});
