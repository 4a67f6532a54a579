/** Admission over HTTP: who may train, who is told to come back, and what frees a place. */
import type { BasaClient } from '@basa/client/node';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import type { TaskId } from '@basa/protocol';
import { SERVER_PATH } from '@basa/protocol/http';
import type { AdmissionView } from '@basa/protocol/internal/one-shot/admission.ts';
import {
  countsOf,
  oneHot,
  scraped,
  TestServices,
  type TestServicesOptions,
  until,
} from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services.close());

/** K = 3, Kmin = 2, and this many places. */
async function opened(places: number, options: TestServicesOptions = {}): Promise<TestServices> {
  services = await TestServices.open({
    ...options,
    specification: { places, ...options.specification },
  });
  return services;
}

async function devices(count: number): Promise<BasaClient[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => services.client(`device ${n}`)));
}

async function kindOf(client: BasaClient | undefined): Promise<string> {
  const answer = await (client as BasaClient).admission();
  return answer.kind === 'place' ? 'place' : `${answer.reason}: ${answer.detail}`;
}

/** Posts as a key that no authority has enrolled. */
async function strangerPosts(target: string, bytes: number): Promise<Response> {
  const signing = signingDevice();
  const body = new Uint8Array(bytes).fill(1);
  const signed = { audience: services.server.publicKey, method: 'POST', target, body, at: services.clock() };
  const headers = { ...signing.headers(signed), 'content-type': 'application/octet-stream' };
  return fetch(new URL(target, services.server.url), { method: 'POST', headers, body });
}

/** Asks for a place. */
async function strangerAsks(): Promise<number> {
  const target = SERVER_PATH.admissions(Buffer.from(services.task, 'hex') as Uint8Array as TaskId);
  return (await strangerPosts(target, 1)).status;
}

const view = async (): Promise<AdmissionView> =>
  ((await services.taskState()) as unknown as { readonly admission: AdmissionView }).admission;

/** Uploads in no batch, in this state. */
async function shotsThat(state: 'waiting' | 'good'): Promise<number | undefined> {
  const metrics = await scraped(services.server.url);
  return [...metrics].find(([name]) => name.startsWith('basa_shots{') && name.includes(`state="${state}"`))?.[1];
}

describe('a place', () => {
  it('is given while there are some, is the same for a repeated request, and a refusal names the time to come back', async () => {
    await opened(3);
    const clients = await devices(4);
    for (const client of clients.slice(0, 3)) expect(await kindOf(client)).toBe('place');
    expect(await kindOf(clients[0])).toBe('place');
    const no = await (clients[3] as BasaClient).admission();
    expect(no).toMatchObject({ kind: 'rejected', reason: 'no-place', detail: 'every place is taken', update: 'free' });
    expect(no.kind === 'rejected' && no.retryAfterMs).toBeGreaterThan(100);
    await until(async () => (await view()).underWay === 3);
    expect(await view()).toMatchObject({ places: 3, used: 3, waiting: 1, waitingBatches: 0 });
    const metrics = await scraped(services.server.url);
    const label = `{service="server",task="test 1-${services.task.slice(0, 8)}"}`;
    expect([...metrics.keys()].filter((name) => name.startsWith('basa_places'))).toHaveLength(2);
    expect(
      metrics.get(`basa_places${label}`) ?? [...metrics].find(([name]) => name.startsWith('basa_places{'))?.[1],
    ).toBe(3);
  });

  it('is delayed if the devices of its task ask too often, while devices of another task get places', async () => {
    await opened(3);
    const busy = services.task;
    const quiet = await services.createTask();
    await services.restartServer({ taskLimit: { burst: 2, perSecond: 0.001 } });
    const named = (task: string) => (name: string) => services.client(name, { task });
    const many = await Promise.all(['a', 'b', 'c'].map(named(busy)));
    for (let n = 0; n < 3; n++) expect(await strangerAsks()).toBe(400); // does not count
    for (const client of many.slice(0, 2)) expect(await kindOf(client)).toBe('place');
    expect(await kindOf(many[2])).toBe('rate-limited: the devices of this task ask for places too often');
    expect(await kindOf(await named(quiet)('d'))).toBe('place');
  });

  it('lapses if it is not used, and is free immediately if it is given back', async () => {
    await opened(3);
    const clients = await devices(5);
    for (const client of clients.slice(0, 3)) await client.admission();
    await (clients[0] as BasaClient).discard();
    expect(await kindOf(clients[3])).toBe('place');
    expect(await kindOf(clients[4])).toContain('no-place');
    services.elapse(services.policy.uploadLeaseMs + 1);
    expect(await kindOf(clients[4])).toBe('place');
  });

  it('that lapsed while its device trained does not keep the device from giving its update', async () => {
    await opened(3);
    const slow = await devices(3);
    for (const client of slow) await client.admission();
    services.elapse(services.policy.uploadLeaseMs + 1);
    for (const client of slow)
      expect(await client.contribute(oneHot(0), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
    await services.reached(1);
    for (const client of slow) expect(await kindOf(client)).toBe('place');
  });

  it('counts until the version with its update, and its device gets none before', async () => {
    await opened(3);
    const clients = await devices(4);
    for (const client of clients.slice(0, 3)) expect(await kindOf(client)).toBe('place');
    for (const client of clients.slice(0, 2)) await client.contribute(oneHot(0), { trainedOn: 0 });
    await until(async () => (await shotsThat('good')) === 2);
    expect(await kindOf(clients[0])).toBe(
      'no-place: the last update of this device is in no version yet, or is on the newest version',
    );
    expect(await kindOf(clients[3])).toBe('no-place: every place is taken');
    await (clients[2] as BasaClient).contribute(oneHot(1), { trainedOn: 0 });
    await services.reached(1);
    expect(await kindOf(clients[0])).toBe('place');
  });

  it('does not wait for batches that the authority does not release, but waits for batches that are being opened', async () => {
    await opened(20);
    let answers: 'nothing' | 'late' | 'all' = 'nothing';
    const late: (() => void)[] = [];
    await services.restartServer({
      fetch: async (url, options) => {
        if (String(url).endsWith('/releases') && answers === 'nothing') throw new TypeError('fetch failed');
        if (String(url).endsWith('/releases') && answers === 'late') await new Promise<void>((go) => late.push(go));
        return fetch(url, options);
      },
    });
    const clients = await devices(13);
    const filled = (from: number): Promise<unknown> =>
      Promise.all(clients.slice(from, from + 3).map((client) => client.contribute(oneHot(0), { trainedOn: 0 })));
    for (const from of [0, 3]) await filled(from);
    await until(async () => (await view()).waitingBatches === 0 && (await services.taskState()).batches >= 2);
    expect(await kindOf(clients[12])).toBe('place');
    answers = 'late';
    for (const from of [6, 9]) await filled(from);
    await until(async () => (await view()).waitingBatches >= 2);
    expect(await kindOf(clients[12])).toBe('place');
    answers = 'all';
    for (const go of late) go();
    await services.reached(4);
    expect(await kindOf(clients[0])).toBe('place');
  });

  it('of a device that may not take part is not given', async () => {
    await opened(9);
    const [client] = await devices(1);
    await services.operate(services.server.url, 'PUT', `/v1/tasks/${services.task}/state`, { state: 'paused' });
    expect(await kindOf(client)).toContain('task-paused');
  });
});

describe('a batch with enough updates', () => {
  it('is made a second after the last device on the way is gone, and not earlier', async () => {
    await opened(9);
    const clients = await devices(3);
    for (const client of clients) await client.admission();
    for (const client of clients.slice(0, 2)) await client.contribute(oneHot(0), { trainedOn: 0 });
    services.elapse(3000);
    // Two of three are in, the third still trains: ticks pass and nothing is summed.
    const before = await services.taskState();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([before.version, (await services.taskState()).version]).toEqual([0, 0]);
    await (clients[2] as BasaClient).discard();
    await until(async () => {
      services.elapse(1001);
      return ((await services.taskState()).version ?? 0) > 0;
    });
    expect(countsOf(await services.reached(1), 2)).toEqual([2, 0, 0, 0, 0, 0, 0, 0]);
  });
});

it('the age of a sum, which is that of its version, damps the step', async () => {
  await opened(12, { specification: { serverStep: { kind: 'fedbuff', rate: 1 } } });
  const clients = await devices(6);
  for (const client of clients) await client.admission();
  const round = async (from: number, size: number) => {
    for (const [n, client] of clients.slice(from, from + 3).entries())
      await client.contribute(
        oneHot(n).map((value) => size * value),
        { trainedOn: 0 },
      );
  };
  await round(0, 1);
  const first = await services.reached(1);
  await round(3, 0.5); // one version old when it is applied
  const second = await services.reached(2);
  const moved = Array.from(second.slice(0, 3), (value, n) => (value - (first[n] as number)) / (first[n] as number));
  for (const step of moved) expect(step).toBeCloseTo(0.5 / 2, 3);
  const { versions } = await services.operate<{ versions: { meanAge?: number }[] }>(
    services.server.url,
    'GET',
    `/v1/tasks/${services.task}/metrics`,
  );
  expect(versions.map(({ meanAge }) => meanAge)).toEqual([undefined, 0, 1]);
});
