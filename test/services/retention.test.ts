/** What a server is told to keep, and what it removes in the background. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENGINE, SERVER_PATH } from '@basa/protocol';
import { House, oneHot, until } from '@basa/testkit/services/house.ts';
import { filesBelow } from '@basa/testkit/services/snapshot.ts';
import { afterEach, expect, it } from 'vitest';

let house: House;
afterEach(async () => {
  await house.close();
  rmSync(house.folder, { recursive: true, force: true });
});

const models = (): readonly string[] => filesBelow(join(house.folder, 'server', 'blobs', 'models', house.task));
const kept = (): readonly number[] => [...new Set(models().map((name) => Number.parseInt(name, 10)))].sort();

/** Makes this many versions of two updates each, and returns the buffers that they came from. */
async function makeVersions(to: number): Promise<string[]> {
  const clients = [await house.client('a'), await house.client('b')];
  const buffers = new Set<string>();
  for (let version = 1; version <= to; version++) {
    for (const client of clients) {
      const result = await client.contribute(oneHot(version), { trainedOn: version - 1 });
      if (result.kind === 'accepted') buffers.add(result.ctx);
    }
    await house.reached(version);
  }
  return [...buffers];
}

/** What a crash in the midst of making a version leaves: blobs that no version is made of. */
function leaveBehind(): { readonly staged: string; readonly next: string } {
  const blobs = join(house.folder, 'server', 'blobs');
  const staged = join(blobs, 'incoming', 'models', house.task);
  const next = '3-0123456789abcdef-0011223344556677'; // may be on its way
  mkdirSync(staged, { recursive: true });
  writeFileSync(join(blobs, 'models', house.task, '2-0123456789abcdef'), 'left');
  writeFileSync(join(staged, '2-0123456789abcdef-step-0011223344556677'), 'left');
  writeFileSync(join(staged, next), 'left');
  return { staged, next };
}

it('old versions, old buffers and what a crash left go; the newest and what is open stay, and the task goes on', async () => {
  const specification = { serverStep: { kind: 'fedavg', rate: 1, momentum: 0.5 } } as const;
  const policy = { bufferSize: 2, engine: ENGINE.slotKeys };
  house = await House.open({ policy, specification });
  const [first = ''] = await makeVersions(2);
  expect(kept()).toEqual([0, 1, 2]);
  house.elapse(house.policy.openMs + house.policy.closeMs + 1);
  // Drawn for version 2, and open.
  const open = await (await house.client('open')).contribute(oneHot(0), { trainedOn: 2 });
  const { staged, next } = leaveBehind();
  await house.restartServer({ keep: { models: 1, buffersMs: 0 }, tidyMs: 20 });
  await until(() => models().length === 2 && readdirSync(staged).length === 1);
  expect(
    models()
      .map((name) => name.replace(/-[0-9a-f]+/, ''))
      .sort(),
  ).toEqual(['2', '2-step']);
  expect(readdirSync(staged)).toEqual([next]);
  const gone = await fetch(new URL(SERVER_PATH.model(house.task, 1), house.server.url));
  expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining('are not kept any more')]);
  await until(async () => !(await isKnown(first)));
  expect('ctx' in open && (await isKnown(open.ctx))).toBe(true);
  await (await house.client('last')).contribute(oneHot(0), { trainedOn: 2 });
  await house.reached(3);
  await until(() => kept().join() === '3');
  const history = SERVER_PATH.taskMetrics(house.task);
  expect(await house.operate(house.server.url, 'GET', history)).toMatchObject({ versions: { length: 4 } });
});

async function isKnown(ctx: string): Promise<boolean> {
  return house.bufferState(ctx).then(
    () => true,
    () => false,
  );
}
