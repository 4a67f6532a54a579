/** A server that lies: the real one behind a proxy that changes its words. */
import type { ServiceProxy } from '@basa/conformance/service-proxy.ts';
import { countsOf, oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

let services: TestServices;
let proxy: ServiceProxy;

beforeAll(async () => {
  services = await TestServices.open();
});
afterAll(() => services.close());
beforeEach(async () => {
  await services.createTask();
  proxy = await services.proxy();
});

it('a model that is not the one of the statement is not trained on', async () => {
  const victim = await services.client('victim', { server: proxy.url });
  proxy.onAnswer = (asked, answer) => {
    if (!/\/models\/0$/.test(asked.path)) return answer;
    return { ...answer, body: answer.body.map((byte, n) => (n === 3 ? byte ^ 1 : byte)) };
  };
  await expect(victim.model()).rejects.toMatchObject({ reason: 'model-invalid' });
  proxy.behave();
  expect((await victim.model()).version).toBe(0);
});

it('a device gives no second update on a version, although the server says that the first was left out', async () => {
  const client = await services.client('first', { server: proxy.url });
  const given = await client.contribute(oneHot(0), { trainedOn: 0 });
  if (given.kind !== 'accepted') throw new Error(given.reason);
  proxy.onAnswer = (asked, answer) =>
    asked.path.endsWith('/fate') ? { ...answer, body: Buffer.from('{"fate":"version-over"}') } : answer;
  expect(await client.fate(given)).toBe('version-over');
  const again = await client.contribute(oneHot(0), { trainedOn: 0 });
  expect(again).toMatchObject({ reason: 'version-given', update: 'free' });
  expect(proxy.passed.filter(({ asked }) => asked.method === 'PUT')).toHaveLength(1);
  for (const [n, name] of ['b', 'c'].entries())
    await (await services.client(name)).contribute(oneHot(n + 1), { trainedOn: 0 });
  expect(countsOf(await services.reached(1), 3)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
});
