/** What a server is told to keep, and what it removes in the background. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE, SERVER_PATH } from '@basa/protocol';
import { afterEach, expect, it } from 'vitest';
import { House, oneHot, until } from './house.ts';
import { filesBelow } from './snapshot.ts';

const POLICY = { bufferSize: 2, engine: ENGINE.identityKem };
let house: House;
afterEach(async () => {
  await house.close();
  rmSync(house.folder, { recursive: true, force: true });
});

const models = (): readonly string[] => filesBelow(join(house.folder, 'server', 'blobs', 'models', house.task));
const kept = (): readonly number[] => [...new Set(models().map((name) => Number.parseInt(name, 10)))].sort();

/** So many versions, of two updates each; gives the buffers they came from. */
async function makeVersions(to: number): Promise<string[]> {
  const clients = [await house.client('a'), await house.client('b')];
  const buffers = new Set<string>();
  for (let version = 1; version <= to; version++) {
    for (const client of clients) {
      const result = await client.contribute(oneHot(1), { trainedOn: version - 1 });
      if (result.kind === 'accepted') buffers.add(result.ctx);
    }
    await house.reached(version);
  }
  return [...buffers];
}

it('old versions and old buffers go, the newest and what is open stay, and the task goes on', async () => {
  const specification = { serverStep: { kind: 'fedavg', rate: 1, momentum: 0.5 } };
  house = await House.open({ policy: POLICY, specification });
  const [first = '', second = ''] = await makeVersions(3);
  expect(kept()).toEqual([0, 1, 2, 3]);
  house.elapse(house.policy.openMs + house.policy.closeMs + 1);
  // Drawn for version 3, and open.
  const open = await (await house.client('open')).contribute(oneHot(0), { trainedOn: 3 });
  await house.restartServer({ keep: { models: 2, buffersMs: 0 }, tidyMs: 20 });
  await until(() => kept().length === 2);
  expect(kept()).toEqual([2, 3]);
  expect(models().filter((name) => name.endsWith('-step'))).toHaveLength(2);
  const gone = await fetch(new URL(SERVER_PATH.model(house.task, 1), house.server.url));
  expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining('are not kept any more')]);
  await until(async () => !(await isKnown(first)) && !(await isKnown(second)));
  expect('ctx' in open && (await isKnown(open.ctx))).toBe(true);
  await (await house.client('last')).contribute(oneHot(0), { trainedOn: 3 });
  await house.reached(4);
  await until(() => kept().join() === '3,4');
  expect(
    (await house.operate<{ versions: unknown[] }>(house.server.url, 'GET', SERVER_PATH.taskMetrics(house.task)))
      .versions,
  ).toHaveLength(5);
});

it('blobs that a crash left in the midst of a version go, and the one that may be on its way stays', async () => {
  house = await House.open({ policy: POLICY });
  await makeVersions(1);
  const blobs = join(house.folder, 'server', 'blobs');
  const staged = join(blobs, 'incoming', 'models', house.task);
  mkdirSync(staged, { recursive: true });
  const before = models();
  for (const [folder, name] of [
    [join(blobs, 'models', house.task), '1-0123456789abcdef'],
    [staged, '1-0123456789abcdef-step-0011223344556677'],
    [staged, '2-0123456789abcdef-0011223344556677'],
  ] as const)
    writeFileSync(join(folder, name), 'left');
  await house.restartServer({ tidyMs: 20 });
  await until(() => models().length === before.length && readdirSync(staged).length === 1);
  expect(models()).toEqual(before);
  expect(readdirSync(staged)).toEqual(['2-0123456789abcdef-0011223344556677']);
});

async function isKnown(ctx: string): Promise<boolean> {
  return house.bufferState(ctx).then(
    () => true,
    () => false,
  );
}
