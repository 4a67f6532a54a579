/** Private tasks and private metrics over HTTP: what server, authority, API and metrics endpoint make of them. */
import type { BasaClient } from '@basa/client/node';
import { toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import { oneHot, PAPER, scraped, TestServices, testPolicy } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const PRIVACY = { noiseMultiplier: 1, colluders: 0, budget: { delta: 1e-6, participations: 1 } };
/** d = 8 needs a level of at least 6. */
const PRIVATE = { bufferSize: 2, minimum: 2, dimension: 8, level: 8, clip: 1, privacy: PRIVACY };

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({ policy: { bufferSize: 2 } });
});
afterAll(() => services.close());

const pair = (task: string): Promise<BasaClient[]> =>
  Promise.all(['a', 'b'].map((name) => services.client(name, { task })));

interface TaskAnswer {
  readonly privacy?: { readonly epsilon: number; readonly participations: number };
  readonly metrics?: Readonly<Record<string, number>>;
}

it('a private task makes versions of noisy sums, and stops each device at its budget', async () => {
  const task = await services.createTask(PRIVATE);
  const clients = await pair(task);
  for (const [n, client] of clients.entries())
    expect(await client.contribute(oneHot(n), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
  const parameters = await services.reached(1, task);
  // The mean of two updates of one step each has 0s and halves; noise leaves no coordinate as it was.
  expect(parameters.some((value) => value !== 0 && Math.abs(value) !== 0.5)).toBe(true);
  for (const client of clients) {
    const no = await client.contribute(oneHot(5), { trainedOn: 1 });
    expect(no).toMatchObject({ kind: 'rejected', reason: 'budget-spent', update: 'free' });
  }
  const described = await services.operate<TaskAnswer>(services.server.url, 'GET', SERVER_PATH.task(task));
  expect(described.privacy).toMatchObject({ participations: 1, colluders: 0, noiseMultiplier: 1 });
  expect(described.privacy?.epsilon).toBeCloseTo(5.2, 1);
  expect(described.metrics).toBeUndefined();
  const label = `task="${Buffer.from(services.policy.name).toString()}-${task.slice(0, 8)}"`;
  expect((await scraped(services.server.url)).get(`basa_privacy_epsilon{${label}}`)).toBeCloseTo(5.2, 1);
});

it('the means of named metrics are shown by version, with the task, and as a gauge', async () => {
  const metrics = [{ name: 'loss', low: 0, high: 4 }];
  const task = await services.createTask({ metrics });
  const clients = await pair(task);
  for (const [n, client] of clients.entries())
    await client.contribute(oneHot(n), { trainedOn: 0, metrics: { loss: 1 + n } });
  await services.reached(1, task);
  const { versions } = await services.operate<{ versions: readonly TaskAnswer[] }>(
    services.server.url,
    'GET',
    SERVER_PATH.taskMetrics(task),
  );
  expect(versions.map(({ metrics: means }) => means?.['loss'])).toEqual([undefined, expect.closeTo(1.5, 3)]);
  const described = await services.operate<TaskAnswer>(services.server.url, 'GET', SERVER_PATH.task(task));
  expect(described.metrics?.['loss']).toBeCloseTo(1.5, 3);
  expect(described.privacy).toBeUndefined();
  const label = `task="${Buffer.from(services.policy.name).toString()}-${task.slice(0, 8)}",metric="loss"`;
  expect((await scraped(services.server.url)).get(`basa_device_metric{${label}}`)).toBeCloseTo(1.5, 3);
});

it('paper mode takes no private task: it has no noise and no budget', async () => {
  const policy = { ...testPolicy(services.keys), ...PRIVATE, ...PAPER.policy };
  const body = JSON.stringify({ policy: toHex(TaskPolicy.encode(policy)), mode: 'paper' });
  const answer = await fetch(new URL(SERVER_PATH.tasks, services.server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    body,
  });
  expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('paper')]);
});
