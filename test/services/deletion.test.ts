/** A task that is deleted is gone: no byte of its names, devices, updates and models is left in the server's folder, while the server runs. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { filesBelow } from '@basa/testkit/services/snapshot.ts';
import { oneHot, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices;
afterEach(async () => {
  await services.close();
  rmSync(services.folder, { recursive: true, force: true });
});

/** Of the server's files, those that hold one of these bytes, each with what it holds. */
function holders(wanted: Readonly<Record<string, Uint8Array>>): readonly string[] {
  const folder = join(services.folder, 'server');
  return filesBelow(folder).flatMap((name) => {
    const bytes = readFileSync(join(folder, name));
    return Object.entries(wanted).flatMap(([what, needle]) =>
      bytes.includes(Buffer.from(needle)) ? [`${name}: ${what}`] : [],
    );
  });
}

it('is so for all data of the task, and another task stays as it is', async () => {
  services = await TestServices.open({ policy: { bufferSize: 2 } });
  const kept = services.task;
  const task = await services.createTask();
  const wanted: Record<string, Uint8Array> = { task: fromHex(task) ?? new Uint8Array() };
  for (const [n, name] of ['a', 'b'].entries()) {
    const result = await (await services.client(name)).contribute(oneHot(n), { trainedOn: 0 });
    if (result.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(result)}`);
    wanted[`upload of ${name}`] = fromHex(result.ctx) ?? new Uint8Array();
    wanted[`join tag of ${name}`] = fromHex(result.joinTag) ?? new Uint8Array();
  }
  const parameters = await services.reached(1);
  wanted['model'] = new Uint8Array(parameters.buffer).slice(0, 32);
  expect(new Set(holders(wanted).map((line) => line.split(': ')[1]))).toEqual(new Set(Object.keys(wanted)));

  await services.operate(services.server.url, 'PUT', SERVER_PATH.taskState(task), { state: 'finished' });
  await until(async () => (await services.taskState(task)).batches === 0);
  const { rows } = await services.operate<{ rows: Readonly<Record<string, number>> }>(
    services.server.url,
    'DELETE',
    SERVER_PATH.task(task),
  );
  expect(rows).toMatchObject({ tasks: 1, models: 2, model_sums: 1, batches: 1 });
  expect(holders(wanted)).toEqual([]);
  expect(filesBelow(join(services.folder, 'server', 'blobs')).filter((name) => name.includes(task))).toEqual([]);
  expect((await services.taskState(kept)).state).toBe('running');
});
