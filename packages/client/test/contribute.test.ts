/** A device in a task, over real HTTP, against the real cores of server and authority. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { BasaClient, Contribution } from '../src/node/index.ts';
import { connectTo, deltaOf } from './support/connect.ts';
import { HttpServices } from './support/http-services.ts';
import { parametersOf, TestWorld } from './support/test-world.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function servicesOf(...options: ConstructorParameters<typeof TestWorld>): Promise<HttpServices> {
  const services = await new HttpServices(new TestWorld(...options)).start();
  open.push({ close: () => services.stop() });
  return services;
}

async function client(...args: Parameters<typeof connectTo>): Promise<BasaClient> {
  const connected = await connectTo(...args);
  open.push(connected);
  return connected;
}

it('three devices fill a buffer: each is accepted, told so by the authority, and the next model is theirs', async () => {
  const services = await servicesOf();
  const folder = mkdtempSync(join(tmpdir(), 'basa-client-'));
  open.push({ close: async () => rmSync(folder, { recursive: true }) });
  const contributions: Contribution[] = [];
  const clients: BasaClient[] = [];
  for (let n = 0; n < 3; n++) {
    const device = await client(services, { identity: join(folder, `device-${n}`) });
    clients.push(device);
    const { version, parameters } = await device.model();
    expect(version).toBe(0);
    expect(parameters).toEqual(parametersOf(0));
    const result = await device.contribute(deltaOf(n), { trainedOn: version });
    if (result.kind !== 'accepted') throw new Error(`rejected: ${result.reason} ${result.detail}`);
    expect(result.slot).toBe(n);
    expect(Object.keys(result.costs).sort()).toEqual(['deposit', 'key', 'mask', 'seat', 'upload']);
    expect(result.costs.upload?.sent).toBeGreaterThan(4 * 40);
    contributions.push(result);
  }
  for (const [n, contribution] of contributions.entries()) {
    expect(await clients[n]?.outcome(contribution)).toBe('included');
  }
  expect((await clients[0]?.model())?.version).toBe(1);
  // The test server keeps the sum in whole numbers.
  const expected = Array.from(deltaOf(0), (value, k) => value + (deltaOf(1)[k] as number) + (deltaOf(2)[k] as number));
  const off = services.world.server.models[1]?.sum.map((value, k) => Math.abs(value - (expected[k] as number)));
  expect(Math.max(...(off ?? []))).toBeLessThan(0.51);
});
