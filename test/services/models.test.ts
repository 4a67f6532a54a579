/** Versions of a model: immutable, named by their hash, and given in any piece. */
import { fromHex, toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { isEpochOf, isSigned, ModelStatement, ShownModel } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { askSigned, enrolledDevices } from '@basa/testkit/services/fleet.ts';
import { oneHot, READER, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let services: TestServices;
const first = Float32Array.from({ length: 8 }, (_, n) => n / 4);
beforeAll(async () => {
  const parameters = toHex(new Uint8Array(first.buffer));
  services = await TestServices.open({ policy: { bufferSize: 2 }, specification: { initial: { parameters } } });
});
afterAll(() => services.close());

const get = (version: number | string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(new URL(SERVER_PATH.model(services.task, version), services.server.url), {
    headers: { ...READER, ...headers },
  });
const bytes = new Uint8Array(first.buffer);
const etag = `"${toHex(nodeSuite.sha256(bytes))}"`;

it('a version is named by its hash, and may be kept for ever', async () => {
  const response = await get(0);
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
  expect(response.headers.get('etag')).toBe(etag);
  expect(response.headers.get('cache-control')).toContain('immutable');
  const { statement } = ShownModel.decode(new Uint8Array(await (await get('newest')).arrayBuffer()));
  expect(isSigned(nodeSuite, ModelStatement, statement, services.server.publicKey)).toBe(true);
  expect(`"${toHex(statement.modelHash)}"`).toBe(etag);
});

it.each([etag, `W/${etag}`, `"other", ${etag}`, '*'])('a client that has it already (%s) is told so', async (known) => {
  const response = await get(0, { 'if-none-match': known });
  expect([response.status, await response.text()]).toEqual([304, '']);
});

it('a client with another version gets it', async () => {
  expect((await get(0, { 'if-none-match': '"other"' })).status).toBe(200);
});

it.each([
  ['bytes=0-3', 0, 4],
  ['bytes=30-', 30, 32],
  ['bytes=-5', 27, 32],
  ['bytes=10-1000', 10, 32],
])('a range (%s) is a part of it', async (range, start, end) => {
  const response = await get(0, { range });
  expect(response.status).toBe(206);
  expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/32`);
  expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes.subarray(start, end));
});

it('a range outside is refused, one of another version or of no meaning is the whole', async () => {
  const outside = await get(0, { range: 'bytes=32-' });
  expect([outside.status, outside.headers.get('content-range')]).toEqual([416, 'bytes */32']);
  expect(await outside.json()).toMatchObject({ type: 'urn:basa:problem:range-not-satisfiable' });
  expect(outside.headers.get('cache-control')).toBeNull(); // a refusal may change later
  expect((await get(0, { range: 'bytes=0-3', 'if-range': '"other"' })).status).toBe(200);
  expect((await get(0, { range: 'bytes=0-3', 'if-range': etag })).status).toBe(206);
  expect((await get(0, { range: 'lines=1-2' })).status).toBe(200);
});

it('a version never changes, and a missing version is not found', async () => {
  const clients = await Promise.all(['a', 'b'].map((name) => services.client(name)));
  await Promise.all(clients.map((client, n) => client.contribute(oneHot(n), { trainedOn: 0 })));
  const second = await services.reached(1);
  expect(second).not.toEqual(first);
  await services.restartServer();
  expect(new Float32Array(await (await get(0)).arrayBuffer())).toEqual(first);
  expect(new Float32Array(await (await get(1)).arrayBuffer())).toEqual(second);
  expect((await get(2)).status).toBe(404);
  expect(await (await get('two')).json()).toMatchObject({ status: 400 });
});

it('the newest one is shown with the open epochs of the authorities, by itself and with a place', async () => {
  const { policy, task } = services;
  const isGood = (body: Uint8Array): boolean => {
    const { statement, epochs } = ShownModel.decode(body);
    return (
      isSigned(nodeSuite, ModelStatement, statement, policy.serverKey) &&
      epochs.length >= policy.threshold &&
      epochs.every((epoch) => toHex(epoch.task) === task && isEpochOf(nodeSuite, policy, epoch))
    );
  };
  const [{ device, certificate }] = (await enrolledDevices(services, 1)) as [
    Awaited<ReturnType<typeof enrolledDevices>>[0],
  ];
  const place = await askSigned(services, device, 'server', SERVER_PATH.admissions(task), certificate);
  const { model } = (await place.json()) as { model: string };
  expect(isGood(fromHex(model) as Uint8Array)).toBe(true);
  expect(isGood(new Uint8Array(await (await get('newest')).arrayBuffer()))).toBe(true);
});
