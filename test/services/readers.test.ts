/** Readers of models and results: devices of the task and tokens; strangers only if the operator says so by name. */

import { signingDevice } from '@basa/conformance/signing-device.ts';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, HEADER, SERVER_PATH } from '@basa/protocol/http';
import { nodeSuite } from '@basa/runtime/node';
import { oneHot, READER, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const METRICS = [{ name: 'loss', low: 0, high: 4 }];
let services: TestServices;
let task: string;
let other: string;

beforeAll(async () => {
  services = await TestServices.open({
    policy: { bufferSize: 2, minimum: 2, metrics: METRICS },
    server: { revocationsMs: 200 },
  });
  other = await services.createTask();
  task = await services.createTask();
  await aVersion(task);
});
afterAll(() => services.close());

async function aVersion(of: string): Promise<void> {
  for (const [n, name] of ['a', 'b'].entries()) {
    const client = await services.client(name, { task: of });
    await client.contribute(oneHot(n), { trainedOn: 0, metrics: { loss: 1 } });
  }
  await services.reached(1, of);
}

type Device = ReturnType<typeof signingDevice>;

/** A device with its certificate of a task. */
async function enrolled(of: string): Promise<{ readonly device: Device; readonly certificate: Uint8Array }> {
  const device = signingDevice();
  const deviceKeys = [toHex(device.deviceKey)];
  await services.operate(services.authority.url, 'PUT', AUTHORITY_PATH.allowList(of), { deviceKeys });
  const target = AUTHORITY_PATH.enrolments(of);
  const body = new TextEncoder().encode('{}');
  const words = { audience: services.authority.publicKey, method: 'POST', target, body, at: services.clock() };
  const headers = { ...device.headers(words), 'content-type': 'application/json' };
  const answer = await fetch(services.authority.url + target, { method: 'POST', headers, body: body.slice() });
  return { device, certificate: new Uint8Array(await answer.arrayBuffer()) };
}

const ask = (target: string, headers: Record<string, string> = {}) => fetch(services.server.url + target, { headers });

function askAs(device: Device, certificate: Uint8Array | undefined, target: string): Promise<Response> {
  const words = {
    audience: services.server.publicKey,
    method: 'GET',
    target,
    body: new Uint8Array(),
    at: services.clock(),
  };
  return ask(target, {
    ...device.headers(words),
    ...(certificate !== undefined && { [HEADER.certificate]: toHex(certificate) }),
  });
}

async function codeOf(answer: Response): Promise<string> {
  return answer.ok ? 'served' : ((await answer.json()) as { type: string }).type.replace('urn:basa:problem:', '');
}

const ROUTES = [
  ['the newest model', SERVER_PATH.newestModel],
  ['the parameters of a version', (of: string) => SERVER_PATH.model(of, 1)],
  ['the results of versions', SERVER_PATH.taskMetrics],
] as const;

describe.each(ROUTES)('%s', (_, pathOf) => {
  it('a stranger is refused, and learns who may read and what to do', async () => {
    const answer = await ask(pathOf(task));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([401, null]);
    expect(await answer.json()).toMatchObject({
      type: 'urn:basa:problem:readers-only',
      title: expect.stringContaining('Only devices of the task and operators'),
    });
  });

  it('a device of the task is served, for its own cache only', async () => {
    const { device, certificate } = await enrolled(task);
    const answer = await askAs(device, certificate, pathOf(task));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, expect.stringMatching(/^private/)]);
  });

  it('a device is refused with a certificate of another task, of another device, or with none', async () => {
    const [stranger, member] = [await enrolled(other), await enrolled(task)];
    expect(await codeOf(await askAs(stranger.device, stranger.certificate, pathOf(task)))).toBe('certificate-invalid');
    expect(await codeOf(await askAs(stranger.device, member.certificate, pathOf(task)))).toBe('not-yours');
    expect(await codeOf(await askAs(member.device, undefined, pathOf(task)))).toBe('malformed');
  });

  it('a signature for another request opens nothing', async () => {
    const { device, certificate } = await enrolled(task);
    const target = pathOf(task);
    const words = { audience: services.server.publicKey, method: 'GET', body: new Uint8Array(), at: services.clock() };
    const headers = {
      ...device.headers({ ...words, target: pathOf(other) }),
      [HEADER.certificate]: toHex(certificate),
    };
    expect(await codeOf(await ask(target, headers))).toBe('request-signature-invalid');
  });

  it('a token of an operator is served', async () => {
    const answer = await ask(pathOf(task), READER);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, expect.stringMatching(/^private/)]);
  });

  it('a task with public models serves everybody, and lets caches keep the answer', async () => {
    const shown = await services.createTask({}, { publicModels: true });
    await aVersion(shown);
    const answer = await ask(pathOf(shown));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, expect.stringMatching(/^public/)]);
  });
});

it('a revoked device is refused', async () => {
  const { device, certificate } = await enrolled(task);
  expect(await codeOf(await askAs(device, certificate, SERVER_PATH.newestModel(task)))).toBe('served');
  const user = toHex(nodeSuite.sha256(device.deviceKey));
  await services.operate(services.authority.url, 'POST', AUTHORITY_PATH.revocations, { user });
  const told = () => askAs(device, certificate, SERVER_PATH.newestModel(task)).then(codeOf);
  await expect.poll(told).toBe('revoked');
});

it('strangers see a task as a device needs it before it enrols, and no results', async () => {
  const seen = async (headers?: Record<string, string>) => {
    const one = (await (await ask(SERVER_PATH.task(task), headers)).json()) as Record<string, unknown>;
    const { tasks } = (await (await ask(SERVER_PATH.tasks, headers)).json()) as { tasks: Record<string, unknown>[] };
    return [one, tasks.find((each) => each['task'] === task) ?? {}];
  };
  for (const stranger of await seen()) {
    expect(stranger).toMatchObject({ task, policy: expect.any(String), state: 'running', publicModels: false });
    for (const name of ['metrics', 'accuracy', 'r2', 'loss']) expect(stranger).not.toHaveProperty(name);
  }
  for (const reader of await seen(READER)) expect(reader).toMatchObject({ metrics: { loss: expect.any(Number) } });
  const { device, certificate } = await enrolled(task);
  expect(await (await askAs(device, certificate, SERVER_PATH.task(task))).json()).toMatchObject({
    metrics: { loss: expect.any(Number) },
  });
});
