/** A task that has used up its share of the storage begins nothing new; what has begun is finished, and other tasks continue. */
import type { BasaClient } from '@basa/client/node';
import { packedLength } from '@basa/masking';
import { inputElements } from '@basa/protocol/internal/wire/input.ts';
import { type HeldUpload, holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import { oneHot, scraped, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

/** The model of a test has 8 parameters. */
const MODEL_BYTES = 32;

let services: TestServices;
afterEach(() => services.close());

/** All of them give an update on the newest version. */
async function contributed(...clients: readonly BasaClient[]): Promise<readonly string[]> {
  const each = clients.map(async (client, n) => {
    const { version } = await client.model();
    const ended = await client.contribute(oneHot(2 * version + n), { trainedOn: version });
    return ended.kind === 'rejected' ? ended.reason : ended.kind;
  });
  return Promise.all(each);
}

const stored = async (): Promise<readonly number[]> =>
  [...(await scraped(services.server.url))]
    .filter(([name]) => name.startsWith('basa_task_stored_bytes{'))
    .map(([, bytes]) => bytes);

it('the share of a task holds four models, and there is room again when three are removed', async () => {
  services = await TestServices.open({ policy: { bufferSize: 2, minimum: 2 } });
  const full = services.task;
  const retry = { attempts: 1 };
  const named = (name: string): Promise<BasaClient> => services.client(name, { retry });
  const two = [await named('a'), await named('b')];
  for (const version of [1, 2, 3]) {
    expect(await contributed(...two)).toEqual(['accepted', 'accepted']);
    await services.reached(version);
  }
  await services.createTask();
  const others = [await named('c'), await named('d')];
  expect(await stored()).toEqual([]);

  // A model and the first update of a sum stay below the limit, so that the second one is accepted after it.
  const taskBytes = 4 * MODEL_BYTES;
  await services.restartServer({ taskBytes });
  await until(async () => (await stored()).join() === `${taskBytes},${MODEL_BYTES}`);
  const detail = `${taskBytes} of ${taskBytes} bytes`;
  expect(await two[0]?.admission()).toMatchObject({ reason: 'task-storage-full', detail, update: 'free' });
  expect(await contributed(...others)).toEqual(['accepted', 'accepted']);
  await services.reached(1);

  await services.restartServer({ taskBytes, keep: { models: 1 }, tidyMs: 20 });
  await until(async () => (await stored())[0] === MODEL_BYTES);
  expect(await contributed(...two)).toEqual(['accepted', 'accepted']);
  await services.reached(4, full);
});

it('an upload that has begun is accepted, counts, and makes its version', async () => {
  services = await TestServices.open({ policy: { bufferSize: 2, minimum: 2 } });
  const uploads = [await holdUpload(services, 0), await holdUpload(services, 1)] as const;
  for (const upload of uploads) await send(services, upload, { body: upload.body.subarray(0, 20) });
  await services.restartServer({ taskBytes: 1 });
  const late = await services.client('late', { retry: { attempts: 1 } });
  await until(async () => ((await stored())[0] ?? 0) >= MODEL_BYTES);
  expect(await late.admission()).toMatchObject({ reason: 'task-storage-full' });
  expect((await send(services, uploads[0], rest(uploads[0]))).answer).toMatchObject({ accepted: true });
  expect((await send(services, uploads[1], rest(uploads[1]))).answer).toMatchObject({ accepted: true });
  await services.reached(1);
  await until(async () => (await stored())[0] === 2 * MODEL_BYTES);
});

const rest = ({ body }: HeldUpload) => ({ body: body.subarray(20), offset: 20 });

it('a task whose first sum would not fit its share is not created', async () => {
  services = await TestServices.open({ policy: { bufferSize: 2, minimum: 2 } });
  const least = MODEL_BYTES + 2 * packedLength(inputElements(services.policy), services.policy.modulus);
  await services.restartServer({ taskBytes: least - 1 });
  await expect(services.createTask()).rejects.toThrow(`one model and 2 updates need ${least} bytes`);
  await services.restartServer({ taskBytes: least });
  await services.createTask();
});
