/** Admission as devices meet it: who may train, who is told to come back, and what frees a place. */
import type { BasaClient } from '@basa/client/node';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { SERVER_PATH } from '@basa/protocol/http';
import type { AdmissionView } from '@basa/protocol/internal/one-shot/admission.ts';
import { oneHot } from '@basa/testkit/services/test-services.ts';
import { operate } from '@basa/testkit/world/operator.ts';
import { World, type WorldOptions } from '@basa/testkit/world/world.ts';
import { afterEach, describe, expect, it } from 'vitest';

let world: World;
afterEach(() => world.close());

/** K = 3, Kmin = 2, and this many places. */
async function opened(places: number, options: WorldOptions = {}): Promise<void> {
  world = await World.open({ ...options, specification: { places, ...options.specification } });
}

async function devices(count: number): Promise<[BasaClient, ...BasaClient[]]> {
  const all: BasaClient[] = [];
  while (all.length < count) all.push(await world.device());
  return all as [BasaClient, ...BasaClient[]];
}

async function kindOf(client: BasaClient | undefined): Promise<string> {
  const answer = await (client as BasaClient).admission();
  return answer.kind === 'place' ? 'place' : `${answer.reason}: ${answer.detail}`;
}

async function told(path: string): Promise<string> {
  const bytes = await operate(world.wire.fetch, 'GET', new URL(path, world.serverUrl));
  return new TextDecoder().decode(bytes);
}

const give = (client: BasaClient | undefined, delta = oneHot(0)) => client?.contribute(delta, { trainedOn: 0 });

describe('a place', () => {
  it('is given while there are some, until it is given back or lapses, and a refusal names the time to come back', async () => {
    await opened(3);
    const clients = await devices(4);
    for (const client of clients.slice(0, 3)) expect(await kindOf(client)).toBe('place');
    expect(await kindOf(clients[0])).toBe('place');
    const no = await clients[3]?.admission();
    expect(no).toMatchObject({ kind: 'rejected', reason: 'no-place', detail: 'every place is taken', update: 'free' });
    expect(no?.kind === 'rejected' && no.retryAfterMs).toBeGreaterThan(100);
    await world.tick();
    const { admission } = JSON.parse(await told(SERVER_PATH.task(world.task))) as { admission: AdmissionView };
    expect(admission).toEqual({ places: 3, used: 3, underWay: 3, waiting: 1, waitingBatches: 0 });
    const metrics = (await told('/metrics')).match(/^basa_places.*$/gm);
    expect(metrics).toEqual([expect.stringMatching(/^basa_places\{.* 3$/), expect.stringMatching(/\} \d+$/)]);
    await clients[0].discard();
    expect(await kindOf(clients[3])).toBe('place');
    expect(await kindOf(clients[0])).toContain('no-place');
    world.elapse(world.policy.uploadLeaseMs + 1);
    expect(await kindOf(clients[0])).toBe('place');
  });

  it('is delayed if the devices of its task ask too often, while devices of another task get places', async () => {
    await opened(3, { server: { taskLimit: { burst: 2, perSecond: 0.001 } } });
    const many = await devices(3);
    const path = SERVER_PATH.admissions(world.task);
    for (let n = 0; n < 3; n++) {
      const words = { method: 'POST', target: path, body: new Uint8Array(1), at: world.now };
      const headers = signingDevice().headers({ ...words, audience: world.server.publicKey });
      const asked = { host: 'server', method: 'POST', path, body: words.body };
      const type = { 'content-type': 'application/octet-stream' };
      expect((await world.wire.ask({ ...asked, headers: { ...headers, ...type } })).status).toBe(400); // does not count
    }
    for (const client of many.slice(0, 2)) expect(await kindOf(client)).toBe('place');
    expect(await kindOf(many[2])).toBe('rate-limited: the devices of this task ask for places too often');
    await world.createTask();
    expect(await kindOf(await world.device())).toBe('place');
  });

  it('that lapsed while its device trained does not keep the device from giving its update', async () => {
    await opened(3);
    const slow = await devices(3);
    for (const client of slow) await client.admission();
    world.elapse(world.policy.uploadLeaseMs + 1);
    for (const client of slow.slice(1)) expect(await give(client)).toMatchObject({ kind: 'accepted' });
    await world.tick();
    // Without their places, the updates still count for the next version.
    expect(JSON.parse(await told(SERVER_PATH.task(world.task)))).toMatchObject({ admission: { used: 0 }, gathered: 2 });
    expect(await kindOf(slow[1])).toBe(
      'no-place: the last update of this device is in no version yet, or is on the newest version',
    );
    expect(await give(slow[0])).toMatchObject({ kind: 'accepted' });
    await world.reached(1);
    for (const client of slow) expect(await kindOf(client)).toBe('place');
  });
});

it('the age of a sum, which is that of its version, damps the step', async () => {
  await opened(12, { specification: { serverStep: { kind: 'fedbuff', rate: 1 } } });
  const clients = await devices(6);
  for (const client of clients) await client.admission();
  const round = async (from: number, size: number): Promise<void> => {
    for (const [n, client] of clients.slice(from, from + 3).entries())
      expect(
        await give(
          client,
          oneHot(n).map((value) => size * value),
        ),
      ).toMatchObject({ kind: 'accepted' });
  };
  await round(0, 1);
  const first = (await world.reached(1)).parameters;
  await round(3, 0.5); // one version old when it is applied
  const second = (await world.reached(2)).parameters;
  const moved = Array.from(second.slice(0, 3), (value, n) => (value - (first[n] as number)) / (first[n] as number));
  for (const step of moved) expect(step).toBeCloseTo(0.5 / 2, 3);
  const { versions } = JSON.parse(await told(SERVER_PATH.taskMetrics(world.task))) as {
    versions: { meanAge?: number }[];
  };
  expect(versions.map(({ meanAge }) => meanAge)).toEqual([undefined, 0, 1]);
});
