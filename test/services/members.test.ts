/** What belongs to the devices of a task: models, results and places. Others are refused, and strangers read only what is public by name. */

import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, HEADER, SERVER_PATH } from '@basa/protocol/http';
import { problemCodeOf } from '@basa/protocol/internal/http/problems.ts';
import { Certificate } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { askSigned, enrolledDevices } from '@basa/testkit/services/fleet.ts';
import { holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import {
  countsOf,
  oneHot,
  PAPER,
  READER,
  TestServices,
  type TestServicesOptions,
  until,
} from '@basa/testkit/services/test-services.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

let services: TestServices;
const NEVER = 1e9;

type Member = Awaited<ReturnType<typeof enrolledDevices>>[number];

/** A device with its certificate of a task. */
async function enrolled(task = services.task): Promise<Member> {
  const [member] = await enrolledDevices(services, 1, task);
  return member as Member;
}

const ask = (target: string, headers: Record<string, string> = {}) => fetch(services.server.url + target, { headers });

/** A GET, signed by the device, with its certificate in a header. */
function getAs({ device, certificate }: Member, target: string, signed = target): Promise<Response> {
  const { publicKey: audience } = services.server;
  const words = { audience, method: 'GET', target: signed, body: new Uint8Array(), at: services.clock() };
  return ask(target, { ...device.headers(words), [HEADER.certificate]: toHex(certificate) });
}

/** A POST, signed by the device, with its certificate as the body. */
const postAs = ({ device, certificate }: Member, target: string): Promise<Response> =>
  askSigned(services, device, 'server', target, certificate);

/** The code of a problem, or 'ok'. */
async function codeOf(asked: Promise<Response>): Promise<string> {
  const answer = await asked;
  return answer.ok ? 'ok' : (problemCodeOf(await answer.json()) ?? '');
}

function revoke(deviceKey: Uint8Array): Promise<unknown> {
  const user = toHex(nodeSuite.sha256(deviceKey));
  return services.operate(services.authority.url, 'POST', AUTHORITY_PATH.revocations, { user });
}

/** The words of a certificate, signed by somebody who is no authority of the task. */
function forged({ device, certificate }: Member): Member {
  const real = Certificate.decode(certificate);
  const signature = createNodeSigner(nodeRandomBytes(32)).sign(Certificate.statement(real));
  const endorsements = real.endorsements.map((one) => ({ ...one, signature }));
  return { device, certificate: Certificate.encode({ ...real, endorsements }) };
}

const METRICS = [{ name: 'loss', low: 0, high: 4 }];

async function aVersion(task: string): Promise<void> {
  for (const [n, name] of ['a', 'b'].entries()) {
    const client = await services.client(name, { task });
    await client.contribute(oneHot(n), { trainedOn: 0, metrics: { loss: 1 } });
  }
  await services.reached(1, task);
}

type Route = readonly [what: string, pathOf: (task: string) => string, ask: typeof postAs];

const READ: readonly Route[] = [
  ['the newest model', SERVER_PATH.newestModel, getAs],
  ['the parameters of a version', (task: string) => SERVER_PATH.model(task, 1), getAs],
  ['the results of versions', SERVER_PATH.taskMetrics, getAs],
];
const PLACES: readonly Route[] = [['a place', SERVER_PATH.admissions, postAs]];
const TURNS: readonly Route[] = [['a turn of the mode of the paper', SERVER_PATH.unsafePaperConnect, postAs]];

describe.each([
  [{ policy: { bufferSize: 2, minimum: 2, metrics: METRICS } }, [...READ, ...PLACES]],
  [PAPER, TURNS],
] as const)('with %j', (options: TestServicesOptions, routes: readonly Route[]) => {
  let task: string;
  let other: string;
  let shown: string;
  beforeAll(async () => {
    services = await TestServices.open({ ...options, server: { ...options.server, revocationsMs: 30 } });
    other = await services.createTask();
    shown = await services.createTask({}, { publicModels: true });
    task = await services.createTask();
    if (options !== PAPER) for (const one of [shown, task]) await aVersion(one);
  });
  afterAll(() => services.close());

  it.each(routes)('%s is for a device with a certificate of the task and of its own key', async (_, pathOf, asWhom) => {
    const [mine, theirs, elsewhere] = [await enrolled(), await enrolled(), await enrolled(other)];
    const told = (member: Member, at = task) => codeOf(asWhom(member, pathOf(at)));
    expect(await told(mine)).toBe('ok');
    expect(await told(forged(theirs))).toBe('certificate-invalid');
    expect(await told({ ...theirs, certificate: mine.certificate })).toBe('not-yours');
    expect(await told(elsewhere)).toBe('certificate-invalid');
  });

  it('a revoked device gets nothing any more', async () => {
    const member = await enrolled();
    await revoke(member.device.deviceKey);
    for (const [name, pathOf, asWhom] of routes) {
      await until(async () => (await codeOf(asWhom(member, pathOf(task)))) === 'revoked');
      expect(await codeOf(asWhom(member, pathOf(task))), name).toBe('revoked');
    }
  });

  if (options === PAPER) return;

  it.each(READ)('%s is refused to strangers, with who may read and what to do', async (_, pathOf) => {
    const answer = await ask(pathOf(task));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([401, null]);
    expect(await answer.json()).toMatchObject({
      type: 'urn:basa:problem:readers-only',
      title: expect.stringContaining('Only devices of the task and operators'),
    });
    const member = await enrolled();
    expect(await codeOf(getAs(member, pathOf(task), pathOf(other)))).toBe('request-signature-invalid');
    const { [HEADER.certificate]: __, ...bare } = member.device.headers({
      ...{ audience: services.server.publicKey, method: 'GET', target: pathOf(task) },
      ...{ body: new Uint8Array(), at: services.clock() },
    });
    expect(await codeOf(ask(pathOf(task), bare))).toBe('malformed');
  });

  it.each(READ)(
    '%s may be kept by the cache of its reader, and by every cache if the task is public',
    async (_, pathOf) => {
      const kept = async (asked: Promise<Response>) => (await asked).headers.get('cache-control');
      expect(await kept(getAs(await enrolled(), pathOf(task)))).toMatch(/^private/);
      expect(await kept(ask(pathOf(task), READER))).toMatch(/^private/);
      expect(await kept(ask(pathOf(shown)))).toMatch(/^public/);
    },
  );

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
    const results = { metrics: { loss: expect.any(Number) } };
    for (const reader of await seen(READER)) expect(reader).toMatchObject(results);
    expect(await (await getAs(await enrolled(task), SERVER_PATH.task(task))).json()).toMatchObject(results);
  });
});

describe('a revoked device', () => {
  afterEach(() => services.close());

  it('stays refused after a restart of the server without the authority', async () => {
    services = await TestServices.open({ server: { revocationsMs: 30 } });
    const [member, other] = [await enrolled(), await enrolled()];
    const placeOf = (who: Member) => codeOf(postAs(who, SERVER_PATH.admissions(services.task)));
    await revoke(member.device.deviceKey);
    await until(async () => (await placeOf(member)) === 'revoked');
    expect(await placeOf(other)).toBe('ok');
    await services.restartServer({
      revocationsMs: NEVER,
      authorities: [{ url: 'http://127.0.0.1:9', publicKey: services.authority.publicKey }],
    });
    expect(await placeOf(member)).toBe('revoked');
  });

  it('gives no upload that it prepared before', async () => {
    services = await TestServices.open({ server: { revocationsMs: 30 } });
    const upload = await holdUpload(services, 0);
    const probe = await enrolled();
    for (const key of [upload.client.deviceKey, probe.device.deviceKey]) await revoke(key);
    // The last of them is known, so both are.
    await until(async () => (await codeOf(postAs(probe, SERVER_PATH.admissions(services.task)))) === 'revoked');
    expect((await send(services, upload)).code).toBe('revoked');
    expect((await send(services, upload, { method: 'HEAD' })).status).toBe(403);
  });

  it('is refused by the authority, if the server never looks', async () => {
    services = await TestServices.open({ server: { revocationsMs: NEVER } });
    const [gone, ...others] = await Promise.all(['gone', 'a', 'b', 'c'].map((name) => services.client(name)));
    if (gone === undefined) throw new Error('no device');
    await gone.model();
    await revoke(gone.deviceKey);
    const given = await gone.contribute(oneHot(0), { trainedOn: 0 });
    if (given.kind !== 'accepted') throw new Error(given.reason);
    expect(await services.fateIs(given.ctx, 'refused')).toMatchObject({ reason: 'revoked' });
    for (const [n, client] of others.entries()) await client.contribute(oneHot(n + 1), { trainedOn: 0 });
    expect(countsOf(await services.reached(1), 3)).toEqual([0, 1, 1, 1, 0, 0, 0, 0]);
  });
});
