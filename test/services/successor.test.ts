/** A task that succeeds another one: its devices keep their keys, and what they gave and spent. */
import { join } from 'node:path';
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { DeviceExport } from '@basa/protocol/internal/wire/devices.ts';
import { TaskPolicy } from '@basa/protocol/policy';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { asOperator, OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { deviceStore, THREE_OF_FOUR, World } from '@basa/testkit/world/world.ts';
import { afterEach, describe, expect, it } from 'vitest';

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function gave(device: Awaited<ReturnType<World['device']>>, place: number): Promise<string> {
  const { version } = await device.model();
  const result = await device.contribute(oneHot(place, 8), { trainedOn: version });
  return result.kind === 'accepted' ? 'accepted' : result.reason;
}

describe('a device', () => {
  it('goes on in a task only if its application says which one that succeeds, and gives on the same model once', async () => {
    const here = await World.open({ policy: { bufferSize: 2, minimum: 2 } });
    world = here;
    const store = deviceStore();
    expect(await gave(await here.device({ store }), 0)).toBe('accepted');
    const predecessor = here.task;
    await here.createTask();
    const refused = { reason: 'store-of-another-task' };
    await expect(here.device({ store })).rejects.toMatchObject(refused);
    await expect(here.device({ store, predecessor: 'ab'.repeat(32) })).rejects.toMatchObject(refused);
    const device = await here.device({ store, predecessor });
    expect(await gave(device, 1)).toBe('version-given'); // it has the parameters on which the device gave
    for (const place of [2, 3]) expect(await gave(await here.device(), place)).toBe('accepted');
    await here.reached(1);
    here.elapse(1000);
    expect(await gave(device, 4)).toBe('accepted');
  });
});

const PRIVACY = { noiseMultiplier: 1, colluders: 0, budget: { delta: 1e-6, participations: 3 } };

/** A private task of four authorities whose two devices were in a batch, and its successor. */
async function succession() {
  const here = await World.open({
    shape: THREE_OF_FOUR,
    policy: { bufferSize: 2, minimum: 2, privacy: PRIVACY, level: 100 },
  });
  world = here;
  const stores = [deviceStore(), deviceStore()] as const;
  for (const [place, store] of stores.entries())
    expect(await gave(await here.device({ store }), place)).toBe('accepted');
  await here.reached(1);
  const [predecessor, policy] = [here.task, here.policy];
  await here.createTask();
  const successor = here.task;
  const url = (index: number, path: string) => new URL(path, here.authorities[index]?.url);
  const exported = async (index: number, of = predecessor, to = successor): Promise<DeviceExport> => {
    const answer = await asOperator(here.wire.fetch, 'GET', url(index, AUTHORITY_PATH.deviceExport(of, to)));
    const { page } = (await answer.json()) as { page: string };
    return DeviceExport.decode(fromHex(page) as Uint8Array);
  };
  const imported = async (index: number, pages: readonly DeviceExport[], of: TaskPolicy = policy) => {
    const body = { policy: toHex(TaskPolicy.encode(of)), pages: pages.map((page) => toHex(DeviceExport.encode(page))) };
    return (await asOperator(here.wire.fetch, 'POST', url(index, AUTHORITY_PATH.deviceImport(successor)), body)).json();
  };
  const revoke = async (index: number, user: Uint8Array): Promise<unknown> =>
    asOperator(here.wire.fetch, 'POST', url(index, AUTHORITY_PATH.revocations), { user: toHex(user) });
  return { here, stores, predecessor, successor, policy, exported, imported, revoke };
}

describe('authorities of a successor', () => {
  it('let the devices in that f + 1 authorities of the task before export, with the budget that they spent', async () => {
    const { here, stores, predecessor, successor, exported, imported } = await succession();
    const [store] = stores;
    const comes = () => here.device({ store, predecessor, isAllowed: false });
    for (const index of [0, 1, 2]) expect(await imported(index, [await exported(3)])).toMatchObject({ unknown: 2 });
    await expect(comes()).rejects.toMatchObject({ code: 'enrolment-token-invalid' });
    for (const index of [0, 1, 2])
      expect(await imported(index, [await exported(1)])).toEqual({ enrolled: 2, revoked: 0, unknown: 0 });
    const device = await comes();
    expect(device.privacy.spent).toMatchObject({ inclusions: 1 });
    const [first] = (await exported(0, successor, predecessor)).devices;
    expect(first).toMatchObject({ participations: 1, isRevoked: false });
  });

  it('keep those out that f + 1 of them revoked', async () => {
    const { stores, exported, imported, revoke } = await succession();
    const before = await exported(0);
    const [{ deviceKey }] = [{ deviceKey: stores[0].signer.publicKey }];
    const user = new Uint8Array(await crypto.subtle.digest('SHA-256', deviceKey.slice()));
    for (const index of [1, 2]) await revoke(index, user);
    expect(await imported(3, [before, await exported(1)])).toEqual({ enrolled: 1, revoked: 0, unknown: 1 });
    expect(await imported(3, [await exported(2)])).toEqual({ enrolled: 1, revoked: 1, unknown: 0 });
    expect((await exported(3)).devices.filter(({ isRevoked }) => isRevoked)).toHaveLength(1);
  });

  it('take only exports for this task, of one task before it, which its authorities signed', async () => {
    const { here, predecessor, policy, exported, imported } = await succession();
    const page = await exported(0);
    const invalid = { type: 'urn:basa:problem:export-invalid' };
    expect(await imported(1, [{ ...page, devices: [] }])).toMatchObject(invalid);
    expect(await imported(1, [await exported(0, predecessor, predecessor)])).toMatchObject(invalid);
    expect(await imported(1, [page], { ...policy, bufferSize: 3 })).toMatchObject(invalid);
    expect(await imported(1, [page])).toMatchObject({ unknown: 2 });
    const other = await exported(0, here.task, here.task);
    expect(await imported(1, [other], here.policy)).toMatchObject(invalid);
  });
});

it('the commands carry the devices of a task over to its successor', async () => {
  const services = await TestServices.open();
  try {
    const identity = join(services.folder, 'devices', 'it');
    await (await services.client('it', { identity })).close();
    const predecessor = services.task;
    await services.createTask();
    const at = ['--authority', services.authority.url, '--authority-token', OPERATOR_TOKEN, '--json'];
    const out = join(services.folder, 'exported');
    const told = await basaHere([
      'device',
      'export',
      '--task',
      predecessor,
      '--successor',
      services.task,
      '--out',
      out,
      ...at,
    ]);
    const [file = ''] = lastLine(told.out)['files'] as string[];
    const ended = await basaHere(['device', 'import', '--task', services.task, file, ...at]);
    expect(lastLine(ended.out)).toEqual({ enrolled: 1, revoked: 0, unknown: 0 });
    const client = await services.client('it', { identity, predecessor, token: 'ff'.repeat(32) });
    expect((await client.model()).version).toBe(0);
    const wrong = await basaHere(['device', 'import', '--task', services.task, join(out, 'nothing.json'), ...at]);
    expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('nothing.json')]);
  } finally {
    await services.close();
  }
});
