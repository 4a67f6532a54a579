/** The data that a server is told to keep, and the data it removes in the background. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_PATH } from '@basa/protocol/http';
import { filesBelow } from '@basa/testkit/services/snapshot.ts';
import { oneHot, READER, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices;
afterEach(async () => {
  await services.close();
  rmSync(services.folder, { recursive: true, force: true });
});

const models = (): readonly string[] => filesBelow(join(services.folder, 'server', 'blobs', 'models', services.task));
const kept = (): readonly number[] => [...new Set(models().map((name) => Number.parseInt(name, 10)))].sort();

/** Makes this many versions of two updates each, and returns the batches that they came from. */
async function makeVersions(to: number): Promise<string[]> {
  const clients = [await services.client('a'), await services.client('b')];
  const batches = new Set<string>();
  for (let version = 1; version <= to; version++) {
    const uploads: string[] = [];
    for (const client of clients) {
      await client.model();
      const result = await client.contribute(oneHot(version), { trainedOn: version - 1 });
      if (result.kind === 'accepted') uploads.push(result.ctx);
    }
    await services.reached(version);
    for (const upload of uploads) batches.add((await services.fateIs(upload, 'included')).ctx ?? '');
  }
  return [...batches];
}

/** The remains of a crash while a version is made: blobs that belong to no version. */
function leaveBehind(): { readonly staged: string; readonly next: string } {
  const blobs = join(services.folder, 'server', 'blobs');
  const staged = join(blobs, 'incoming', 'models', services.task);
  const next = '3-0123456789abcdef-0011223344556677'; // may be on its way
  mkdirSync(staged, { recursive: true });
  writeFileSync(join(blobs, 'models', services.task, '2-0123456789abcdef'), 'left');
  writeFileSync(join(staged, '2-0123456789abcdef-step-0011223344556677'), 'left');
  writeFileSync(join(staged, next), 'left');
  return { staged, next };
}

it('old versions, old batches and remains of a crash are removed; the newest and open ones stay, and the task continues', async () => {
  const specification = { serverStep: { kind: 'fedavg', rate: 1, momentum: 0.5 } } as const;
  services = await TestServices.open({ policy: { bufferSize: 2 }, specification });
  const [first = ''] = await makeVersions(2);
  expect(kept()).toEqual([0, 1, 2]);
  services.elapse(2 * 3_600_000);
  // On version 2, and in no batch yet.
  const opening = await services.client('open');
  await opening.model();
  const open = await opening.contribute(oneHot(0), { trainedOn: 2 });
  const { staged, next } = leaveBehind();
  await services.restartServer({ keep: { models: 1, batchesMs: 0 }, tidyMs: 20 });
  await until(() => models().length === 2 && readdirSync(staged).length === 1);
  expect(
    models()
      .map((name) => name.replace(/-[0-9a-f]+/, ''))
      .sort(),
  ).toEqual(['2', '2-step']);
  expect(readdirSync(staged)).toEqual([next]);
  const gone = await fetch(new URL(SERVER_PATH.model(services.task, 1), services.server.url), { headers: READER });
  expect([gone.status, await gone.text()]).toEqual([
    404,
    expect.stringContaining('the parameters of this version were deleted'),
  ]);
  await until(async () => !(await isKnown(first)));
  expect('ctx' in open && (await services.fate(open.ctx)).fate).toBe('waiting');
  const last = await services.client('last');
  await last.model();
  await last.contribute(oneHot(0), { trainedOn: 2 });
  await services.reached(3);
  await until(() => kept().join() === '3');
  const history = SERVER_PATH.taskMetrics(services.task);
  expect(await services.operate(services.server.url, 'GET', history)).toMatchObject({ versions: { length: 4 } });
});

async function isKnown(ctx: string): Promise<boolean> {
  return services.batchState(ctx).then(
    () => true,
    () => false,
  );
}
