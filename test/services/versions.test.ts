/** One version of the model per buffer, over HTTP: the seats, the end of a version, and the outcome of its updates. */
import type { BasaClient } from '@basa/client/node';
import { SERVER_PATH } from '@basa/protocol';
import { hashOf, holdUpload, otherHeader, send } from '@basa/testkit/services/held-upload.ts';
import { oneHot, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services?.close());

const PLACES = { specification: { admission: { places: 10 } } };

async function placed(count: number): Promise<BasaClient[]> {
  const clients = await Promise.all(Array.from({ length: count }, (_, n) => services.client(`device ${n}`)));
  for (const client of clients) expect(await client.admission()).toMatchObject({ kind: 'place' });
  return clients;
}

const give = (client: BasaClient | undefined, n: number, trainedOn: number) =>
  (client as BasaClient).contribute(oneHot(n), { trainedOn });
const statusOf = async (result: Awaited<ReturnType<typeof give>>): Promise<string> =>
  result.kind === 'accepted' ? (await services.bufferState(result.ctx)).status : result.reason;

it('updates of two versions are never in one buffer, and an older version closes once no device is on its way', async () => {
  services = await TestServices.open({ policy: { bufferSize: 3, minimum: 2 }, ...PLACES });
  const clients = await placed(5);
  for (const client of clients) await client.model(); // version 0
  for (const n of [0, 1, 2]) expect(await give(clients[n], n, 0)).toMatchObject({ kind: 'accepted' });
  await services.reached(1);
  const late = await give(clients[3], 3, 0);
  expect(late).toMatchObject({ kind: 'accepted' });
  const fresh = await services.client('fresh');
  await fresh.admission();
  await fresh.model();
  // Two more are on the way to version 1: its buffer stays open.
  for (const name of ['on the way', 'also on the way']) {
    const other = await services.client(name);
    await other.admission();
    await other.model();
  }
  const newer = await give(fresh, 5, 1);
  if (late.kind !== 'accepted' || newer.kind !== 'accepted') throw new Error('not accepted');
  expect(newer.ctx).not.toBe(late.ctx);
  const last = await give(clients[4], 4, 0);
  expect(last).toMatchObject({ kind: 'accepted', ctx: late.ctx });
  // Two of three slots are filled, and nobody else trains on version 0.
  await until(async () => (await statusOf(late)) === 'included');
  expect((await services.bufferState(newer.ctx)).status).toBe('filling');
});

it('an update is refused when too few devices are left for its version, and its device contributes on the newest one', async () => {
  services = await TestServices.open({ policy: { bufferSize: 3, minimum: 2 }, ...PLACES });
  const clients = await placed(4);
  for (const client of clients) await client.model();
  for (const n of [0, 1, 2]) expect(await give(clients[n], n, 0)).toMatchObject({ kind: 'accepted' });
  await services.reached(1);
  const refusal = await give(clients[3], 3, 0);
  expect(refusal).toMatchObject({
    reason: 'version-over',
    update: 'free',
    detail: expect.stringContaining('version 1'),
  });
  await (clients[3] as BasaClient).admission();
  await (clients[3] as BasaClient).model();
  expect(await give(clients[3], 3, 1)).toMatchObject({ kind: 'accepted' });
});

it('a buffer that can never have enough updates is given up immediately, and its devices may give their update again', async () => {
  services = await TestServices.open({ policy: { bufferSize: 3, minimum: 3 }, ...PLACES });
  const [first, second, third] = await placed(3);
  const stuck = await give(first, 0, 0);
  const dropOut = await holdUpload(services, 1);
  services.elapse(services.policy.uploadLeaseMs + 1);
  await until(async () => (await statusOf(stuck)) === 'aborted');
  await dropOut.client.discard();
  const again = await give(first, 0, 0);
  if (again.kind !== 'accepted' || stuck.kind !== 'accepted') throw new Error('not accepted');
  expect(again.ctx).not.toBe(stuck.ctx);
  for (const client of [second, third]) expect(await give(client, 2, 0)).toMatchObject({ kind: 'accepted' });
  await services.reached(1);
});

it('a spoilt sum makes a version with the same parameters, so that its devices go on', async () => {
  services = await TestServices.open({ policy: { bufferSize: 3, minimum: 2 } });
  const [a, b] = [await services.client('a'), await services.client('b')];
  const { parameters: before } = await a.model();
  const spoilt = await give(a, 0, 0);
  const cheat = await holdUpload(services, 1);
  const body = cheat.body.map((byte, n) => (n === 5 ? byte ^ 1 : byte)); // the second guard word
  await send(services, cheat, { header: otherHeader(cheat, 3, { bodyHash: hashOf(body) }), body });
  await give(b, 2, 0);
  await until(async () => (await statusOf(spoilt)) === 'quarantined');
  const { version, parameters } = await a.model();
  expect([version, parameters]).toEqual([1, before]);
  expect(await give(a, 4, 0)).toMatchObject({ reason: 'version-given', update: 'free' });
  expect(await give(a, 4, 1)).toMatchObject({ kind: 'accepted' });
});

it('a server that shows a device a buffer of another version is refused, and nothing is deposited (O1)', async () => {
  services = await TestServices.open({ policy: { bufferSize: 3, minimum: 2 } });
  const proxy = await services.proxy();
  const seats = () => proxy.passed.filter(({ asked }) => asked.path === SERVER_PATH.seats(services.task));
  const clients = await Promise.all(['a', 'b', 'c'].map((name) => services.client(name, { server: proxy.url })));
  for (const [n, client] of clients.entries()) await give(client, n, 0);
  await services.reached(1);
  const [ofVersion0] = seats();
  proxy.onAnswer = (asked, answer) =>
    asked.path === SERVER_PATH.seats(services.task) ? (ofVersion0?.answer ?? answer) : answer;
  const victim = await services.client('victim', { server: proxy.url });
  await victim.model();
  const deposits = () => proxy.passed.filter(({ asked }) => asked.path.endsWith('/deposits')).length;
  const before = deposits();
  expect(await give(victim, 5, 1)).toMatchObject({ reason: 'descriptor-version', update: 'free' });
  expect(deposits()).toBe(before);
});
