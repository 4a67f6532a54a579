/** Admission over HTTP: who may train, who is told to come back, and what frees a place. */
import type { BasaClient } from '@basa/client/node';
import type { TaskSpecification } from '@basa/client/operator';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { SERVER_PATH } from '@basa/protocol/http';
import type { AdmissionView } from '@basa/protocol/internal/one-shot/admission.ts';
import { askSigned } from '@basa/testkit/services/fleet.ts';
import { oneHot, scraped, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services.close());

/** K = 3, Kmin = 2, and this many places. */
async function opened(places: number, specification: Partial<TaskSpecification> = {}): Promise<void> {
  services = await TestServices.open({ specification: { places, ...specification } });
}

async function devices(count: number): Promise<BasaClient[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => services.client(`device ${n}`)));
}

async function kindOf(client: BasaClient | undefined): Promise<string> {
  const answer = await (client as BasaClient).admission();
  return answer.kind === 'place' ? 'place' : `${answer.reason}: ${answer.detail}`;
}

/** Asks for a place with a key that no authority has enrolled. */
async function strangerAsks(): Promise<number> {
  const target = SERVER_PATH.admissions(services.task);
  return (await askSigned(services, signingDevice(), 'server', target, new Uint8Array(1))).status;
}

const view = async (): Promise<AdmissionView> =>
  ((await services.taskState()) as unknown as { readonly admission: AdmissionView }).admission;

describe('a place', () => {
  it('is given while there are some, until it is given back or lapses, and a refusal names the time to come back', async () => {
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
    await (clients[0] as BasaClient).discard();
    expect(await kindOf(clients[3])).toBe('place');
    expect(await kindOf(clients[0])).toContain('no-place');
    services.elapse(services.policy.uploadLeaseMs + 1);
    expect(await kindOf(clients[0])).toBe('place');
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

  it('that lapsed while its device trained does not keep the device from giving its update', async () => {
    await opened(3);
    const slow = await devices(3);
    for (const client of slow) await client.admission();
    services.elapse(services.policy.uploadLeaseMs + 1);
    const [last, ...first] = slow as [BasaClient, ...BasaClient[]];
    for (const client of first)
      expect(await client.contribute(oneHot(0), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
    expect(await kindOf(first[0])).toBe(
      'no-place: the last update of this device is in no version yet, or is on the newest version',
    );
    expect(await last.contribute(oneHot(0), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
    await services.reached(1);
    for (const client of slow) expect(await kindOf(client)).toBe('place');
  });
});

it('the age of a sum, which is that of its version, damps the step', async () => {
  await opened(12, { serverStep: { kind: 'fedbuff', rate: 1 } });
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
