/** Backups of services that run, and what a restored folder knows and forgets. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { nodeSuite } from '@basa/runtime/node';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { countsOf, oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices;
afterEach(async () => {
  await services.close();
  rmSync(services.folder, { recursive: true, force: true });
});

/** Types `basa ... server` or `basa ... authority` with the configuration of the services's service. */
async function basa(command: string, which: 'server' | 'authority', ...more: readonly string[]) {
  const settings: Record<string, string> = {
    dataFolder: join(services.folder, which),
    port: '0',
    ...(which === 'server'
      ? { authorityUrl: services.authority.url, authorityKey: toHex(services.authority.publicKey) }
      : { keyFile: join(services.folder, 'authority.key') }),
  };
  const set = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  return basaHere([command, which, ...set, ...more, '--json']);
}

interface Accepted {
  readonly ctx: string;
}

/** New devices of a task that contribute one after the other; tells of each that was acknowledged. */
async function contribute(task: string, names: readonly string[], onAccepted: (accepted: Accepted) => void) {
  for (const [n, name] of names.entries()) {
    const client = await services.client(name, { task });
    const result = await client.contribute(oneHot(n), { trainedOn: 0 });
    if (result.kind === 'accepted') onAccepted(result);
  }
}

it('a server backed up while batches fill and end has every update that was acknowledged before, and goes on', async () => {
  services = await TestServices.open({ policy: { bufferSize: 2 } });
  const [busy, quiet] = [services.task, await services.createTask()];
  const acknowledged: Accepted[] = [];
  await contribute(quiet, ['q0'], (accepted) => acknowledged.push(accepted));
  await contribute(busy, ['b0'], (accepted) => acknowledged.push(accepted));
  expect(acknowledged).toHaveLength(2);

  const load = Promise.all([contribute(busy, ['x'], () => {}), contribute(busy, ['y'], () => {})]);
  const folders = ['backup-0', 'backup-1', 'backup-2'].map((name) => join(services.folder, name));
  for (const to of folders) expect((await basa('backup', 'server', '--to', to)).code).toBe(0);
  await load;

  const [from = ''] = folders;
  await services.server.close();
  rmSync(join(services.folder, 'server'), { recursive: true });
  const restored = await basa('restore', 'server', '--from', from);
  expect(lastLine(restored.out)).toMatchObject({ from });
  expect(restored.errors).toContain('is a rollback');
  await services.startServer();
  for (const [n, { ctx }] of acknowledged.entries())
    expect(['waiting', 'included']).toContain((await services.fate(ctx, n === 0 ? quiet : busy)).fate);
  const doctor = await basa('doctor', 'server');
  expect(lastLine(doctor.out)).toMatchObject({ failed: 0 });
  await contribute(quiet, ['q1'], () => {});
  expect(countsOf(await services.reached(1, quiet), 2)).toEqual([2, 0, 0, 0, 0, 0, 0, 0]);
});

it('an authority restored from a backup has no epochs that uploads name, and the doctor names the revocations that it forgot', async () => {
  services = await TestServices.open();
  const held: Accepted[] = [];
  await contribute(services.task, ['a'], (accepted) => held.push(accepted));
  const to = join(services.folder, 'backup');
  expect((await basa('backup', 'authority', '--to', to)).code).toBe(0);
  await contribute(services.task, ['b'], () => {});
  const user = toHex(nodeSuite.sha256((await services.client('lost')).deviceKey));
  const revoke = () => services.operate(services.authority.url, 'POST', AUTHORITY_PATH.revocations, { user });
  await revoke();
  await services.server.tick();
  await services.authority.close();
  rmSync(join(services.folder, 'authority'), { recursive: true });
  expect((await basa('restore', 'authority', '--from', to)).code).toBe(0);
  const { findings } = lastLine((await basa('doctor', 'authority')).out);
  expect(findings).toContainEqual(
    expect.objectContaining({ todo: expect.stringMatching(/^enrol 1 more; until then/) }),
  );
  await services.startAuthority();
  const revocations = async () => {
    const { findings: found } = lastLine((await basa('doctor', 'server')).out);
    return (found as { check: string }[]).filter(({ check }) => check === 'revocations');
  };
  expect(await revocations()).toEqual([
    expect.objectContaining({ state: 'warning', todo: expect.stringContaining(`basa keys revoke --user ${user}`) }),
  ]);
  await revoke();
  expect(await revocations()).toEqual([expect.objectContaining({ state: 'fine' })]);
  services.elapse(3 * 3_600_000);
  expect(await services.fateIs(held[0]?.ctx ?? '', 'refused')).toMatchObject({ reason: 'epoch-over' });
});

it('a damaged backup, one of the other service, and a folder in use are refused, and half a folder does not start', async () => {
  services = await TestServices.open();
  const to = join(services.folder, 'backup');
  await basa('backup', 'server', '--to', to);
  expect((await basa('backup', 'server', '--to', to)).errors).toContain('is not empty');
  expect((await basa('restore', 'server', '--from', to)).errors).toContain('is not empty, and nothing was changed');
  expect((await basa('restore', 'authority', '--from', to)).errors).toContain('a backup of the server');
  expect((await basa('restore', 'server', '--from', services.folder)).errors).toContain('has no manifest.json');
  const key = join(to, 'server.key');
  writeFileSync(
    key,
    readFileSync(key, 'utf8').replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
  );
  const damaged = await basa('restore', 'server', '--from', to);
  expect([damaged.code, damaged.errors]).toEqual([
    3,
    expect.stringContaining('server.key was changed since the backup'),
  ]);

  const half = join(services.folder, 'half');
  mkdirSync(half);
  writeFileSync(join(half, 'basa.sqlite'), 'The restore of this folder was interrupted.');
  await expect(
    services.startServer({ dataFolder: half, listen: { host: '127.0.0.1', port: 0 } }),
  ).rejects.toMatchObject({
    reason: 'dataFolder',
  });
});
