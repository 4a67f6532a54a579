/** One device, one process: held by the operating system, in whatever container the other one is. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asBundle } from '@basa/testkit/root.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { lockDevice, placeOf } from '../src/node/device-lock.ts';
import { type DeviceStore, openFolderStore, StoreError } from '../src/node/index.ts';
import { connectTo } from './support/connect.ts';
import { startClient, startServices, temporaryFolder } from './support/setup.ts';

const HOLDER = fileURLToPath(new URL('support/hold-device.ts', import.meta.url));
/** A process of its own, in namespaces of process ids and networks of its own: what a container is. */
const CONTAINER = ['unshare', '--user', '--map-root-user', '--pid', '--net', '--fork', '--kill-child'];
const hasContainers = spawnSync(CONTAINER[0] ?? '', [...CONTAINER.slice(1), 'true']).status === 0;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** The process, and what it says once it knows whether it has the device. */
function holder(folder: string, within: readonly string[] = []): { child: ChildProcess; said: Promise<string> } {
  const node = [process.execPath, ...asBundle(HOLDER), folder];
  const [command = '', ...words] = [...within, ...node];
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return { child, said: once(child.stdout as NodeJS.ReadableStream, 'data').then(([data]) => String(data).trim()) };
}

const deviceFolder = (): string => {
  const folder = join(temporaryFolder(), 'device');
  mkdirSync(folder);
  return folder;
};
const claims = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('lock'));
const marks = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('held'));

describe('a device', () => {
  it('is not two clients of one process', async () => {
    const services = await startServices();
    const identity = join(temporaryFolder(), 'device');
    const first = await startClient(services, { identity });
    await expect(connectTo(services, { identity })).rejects.toThrow('give each client its own folder');
    await first.close();
    await startClient(services, { identity });
  });

  it('cannot be used by two processes; a killed process releases it', async () => {
    const folder = deviceFolder();
    const { child, said } = holder(folder);
    expect(await said).toBe('held');
    const refused = await openFolderStore(folder).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreError);
    expect(String(refused)).toContain(`in use by process ${child.pid} on `);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(claims(folder)).toHaveLength(1);
    const store = await openFolderStore(folder);
    expect(claims(folder)).toHaveLength(1);
    expect(marks(folder)).toEqual(claims(folder).map((claim) => `held-${claim}`));
    await store.close();
    expect([...claims(folder), ...marks(folder)]).toEqual([]);
  });

  it.skipIf(!hasContainers)(
    'cannot be used by two containers on one volume, although neither sees the other’s processes',
    async () => {
      const folder = deviceFolder();
      const first = holder(folder, CONTAINER);
      expect(await first.said).toBe('held');
      // Both are process 1 of their own container.
      expect(await holder(folder, CONTAINER).said).toMatch(/^busy: .* in use by process 1 on /);
      await expect(openFolderStore(folder)).rejects.toThrow('in use by process 1 on ');
      first.child.kill('SIGKILL');
      // The inner process dies a moment after the one that started it.
      let store: DeviceStore | undefined;
      while (store === undefined) store = await openFolderStore(folder).catch(() => undefined);
      await store.close();
    },
  );

  it('stays locked by a process that is suspended and does not answer', async () => {
    const folder = deviceFolder();
    const { child, said } = holder(folder);
    expect(await said).toBe('held');
    child.kill('SIGSTOP');
    await expect(openFolderStore(folder)).rejects.toThrow('is in use by another process');
    expect(claims(folder)).toHaveLength(1);
  });

  it('is locked by exactly one of many processes that want it at the same time', async () => {
    const folder = deviceFolder();
    const locks = await Promise.allSettled(Array.from({ length: 8 }, () => lockDevice(folder)));
    expect(locks.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(claims(folder)).toHaveLength(1);
    for (const lock of locks) if (lock.status === 'fulfilled') await lock.value.release();
    const others = await Promise.all(Array.from({ length: 3 }, () => holder(folder).said));
    expect(others.filter((said) => said === 'held')).toHaveLength(1);
  });

  it('with a path longer than the address of a socket can be locked too', async () => {
    const folder = join(temporaryFolder(), 'd'.repeat(120));
    const store = await openFolderStore(folder);
    expect(claims(folder)).toHaveLength(1);
    await expect(openFolderStore(folder)).rejects.toThrow('is in use by');
    await store.close();
    expect(claims(folder)).toEqual([]);
  });

  it('is not written after its lock was removed', async () => {
    const folder = deviceFolder();
    const store = await openFolderStore(folder);
    await store.append([Uint8Array.of(1)]);
    for (const claim of claims(folder)) rmSync(join(folder, claim));
    for (const write of [
      () => store.append([Uint8Array.of(2)]),
      () => store.replace([]),
      () => store.append([Uint8Array.of(2)], Uint8Array.of(2)),
    ]) {
      await expect(write()).rejects.toThrow('was removed while this process held it');
    }
    await store.close();
    const again = await openFolderStore(folder);
    expect(await again.entries()).toEqual([Uint8Array.of(1)]);
    expect(await again.body()).toBeUndefined();
    await again.close();
  });
});

describe('a claim without a running process', () => {
  it('from an earlier start of this machine is removed, if no other machine can have made it', async () => {
    const folder = deviceFolder();
    writeFileSync(join(folder, 'lock-0123456789abcdef-00'), '');
    const lock = await lockDevice(folder, { machine: 'mine', isShared: false });
    expect(claims(folder)).toHaveLength(1);
    await lock.release();
  });

  it('is kept if another machine may have made it on a shared disk; a claim of this machine is removed', async () => {
    const folder = deviceFolder();
    const place = { machine: 'mine', isShared: true };
    writeFileSync(join(folder, 'lock-mine-00'), '');
    await (await lockDevice(folder, place)).release();
    writeFileSync(join(folder, 'lock-other-00'), '');
    await expect(lockDevice(folder, place)).rejects.toThrow(`delete ${join(folder, 'lock-other-00')}`);
    expect(claims(folder)).toEqual(['lock-other-00']);
  });

  it('with an earlier name whose process still tries wins; a claim with a later name is waited for', async () => {
    const folder = deviceFolder();
    const place = { machine: 'm', isShared: false };
    const trying = async (name: string) => {
      const server = createServer((asking) => asking.on('error', () => undefined).end('process 7 on elsewhere'));
      await new Promise<void>((resolve) => server.listen(join(folder, name), resolve));
      return () => new Promise((resolve) => server.close(resolve));
    };
    const first = await trying('lock-a');
    await expect(lockDevice(folder, place)).rejects.toThrow('in use by process 7 on elsewhere');
    await first();
    const last = await trying('lock-z');
    const waiting = lockDevice(folder, place);
    const early = await Promise.race([waiting.then(() => 'held'), new Promise((resolve) => setTimeout(resolve, 100))]);
    expect(early).toBeUndefined();
    await last();
    await (await waiting).release();
  });
});

it('the folder of a test lies on a disk of this machine, and this machine has one name', async () => {
  const [one, other] = [await placeOf(temporaryFolder()), await placeOf(temporaryFolder())];
  expect(one.machine).toMatch(/^[0-9a-f]{16}$/);
  expect(other).toEqual(one);
});
