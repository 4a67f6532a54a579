/** A task of four authorities, three of which every step needs, over HTTP: some are down, and the first one may lie. */
import type { BasaClient } from '@basa/client/node';
import {
  AuthorityOperator,
  type CreateTaskOptions,
  createTask,
  ProblemError,
  SettingsError,
  tokenForAll,
  UnreachableError,
} from '@basa/client/operator';
import { ServiceProxy } from '@basa/conformance/service-proxy.ts';
import { defineModel, dense } from '@basa/learning';
import { problemDocument } from '@basa/protocol/internal/http/problems.ts';
import { TaskPolicy } from '@basa/protocol/policy';
import { TestServices, until } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const model = defineModel('small', { height: 1, width: 1, channels: 3 }, [dense(2)]);
const K = 3;

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({ count: 4, server: { revocationsMs: 50 } });
});
afterAll(() => services.close());
const urls = (): string => services.authorityPins.authority;

const create = ({ authority = urls(), ...more }: Partial<CreateTaskOptions> = {}) =>
  createTask({
    server: services.server.url,
    authority,
    operatorToken: OPERATOR_TOKEN,
    authorityToken: tokenForAll(authority, OPERATOR_TOKEN),
    model,
    bufferSize: K,
    minimum: K,
    clip: 1,
    minIntervalMs: 0, // its devices do not train
    ...more,
  });
const operator = (missed: Error[] = [], url = urls()): AuthorityOperator =>
  new AuthorityOperator({ url, token: tokenForAll(url, OPERATOR_TOKEN), onMissed: (error) => missed.push(error) });
const oneHot = (place: number): Float32Array =>
  Float32Array.from({ length: model.dimension }, (_, n) => (n === place ? 1 : 0));
const device = (task: string, name: string, token?: string, authority = urls()): Promise<BasaClient> =>
  services.client(name, {
    task,
    ...services.authorityPins,
    authority,
    retry: { attempts: 3 },
    ...(token !== undefined && { token }),
  });

/** A server is ready whatever its authorities do; it says what is missing. */
async function enough(): Promise<string | undefined> {
  const answer = await fetch(new URL('/readyz', services.server.url));
  const { status, checks } = (await answer.json()) as { status: string; checks: Record<string, string> };
  expect([answer.status, status]).toEqual([200, 'ready']);
  return checks['enough authorities'];
}

async function fill(clients: readonly BasaClient[], version: number, task: string): Promise<void> {
  for (const client of clients) await client.model();
  const told = await Promise.all(
    clients.map((client) => client.contribute(oneHot(version), { trainedOn: version - 1 })),
  );
  expect(told.map(({ kind }) => kind)).toEqual(clients.map(() => 'accepted'));
  await services.reached(version, task);
}

it('trains with all authorities and with one down, waits with two down, and continues later', async () => {
  const { task, policy } = await create();
  const tokens = await operator().tokens(task, K, Date.now() + 3_600_000);
  expect([policy.authorities.length, policy.threshold]).toEqual([4, 3]);
  const clients = await Promise.all(tokens.map((token, n) => device(task, `of-four-${n}`, token)));
  await fill(clients, 1, task);

  await services.others[0]?.close();
  await fill(clients, 2, task);
  // Devices can still be enrolled; an authority that was missed is named.
  const missed: Error[] = [];
  const [late] = await operator(missed).tokens(task, 1, Date.now() + 60_000);
  expect(missed.map(({ message }) => message)).toEqual([expect.stringContaining(services.others[0]?.url ?? '')]);
  const [, second, third] = clients as [BasaClient, BasaClient, BasaClient];
  await fill([await device(task, 'late', late), second, third], 3, task);

  expect(await enough()).toBe('ok');
  await third.model();
  await services.others[1]?.close();
  await until(async () => (await enough()) === 'failed');
  const waits = await third.contribute(oneHot(4), { trainedOn: 3 });
  if (waits.kind !== 'accepted') throw new Error(waits.reason);
  expect((await services.fate(waits.ctx, task)).fate).toBe('waiting');

  await services.startOther(1);
  await fill(clients.slice(0, 2), 4, task);
  expect(await services.fate(waits.ctx, task)).toMatchObject({ fate: 'included', version: 4 });
  await services.startOther(0);
  await fill(clients, 5, task);
});

it('needs enough authorities to withstand one that colludes', async () => {
  const three = { authority: urls().split(',').slice(0, 3).join(',') };
  await expect(create({ ...three, threshold: 2 })).rejects.toThrow(SettingsError);
  expect((await create({ ...three })).policy.threshold).toBe(3);
});

it('each authority has its own token: one is not sent to others', () => {
  const operators = (token: string) => () => new AuthorityOperator({ url: urls(), token });
  expect(operators('a')).toThrow('one token was given for 4 authorities; give one token for each');
  expect(operators('a,b')).toThrow('2 tokens were given for 4 authorities');
  expect(operators('a,b,c,d')).not.toThrow();
});

it('an operator without a listener gets an error if an authority is down', async () => {
  await services.others[2]?.close();
  const { task } = await create({ authority: urls().split(',').slice(0, 3).join(','), name: 'first three' });
  const strict = new AuthorityOperator({ url: urls(), token: tokenForAll(urls(), OPERATOR_TOKEN) });
  await expect(strict.tokens(task, 1, Date.now() + 60_000)).rejects.toThrow(UnreachableError);
  await services.startOther(2);
});

describe('the first authority lies', () => {
  let liar: ServiceProxy;
  let withLiar: string;
  beforeEach(async () => {
    liar = await services.proxy('authority');
    withLiar = [liar.url, ...services.others.map(({ url }) => url)].join();
  });

  it('devices continue if it shows another policy and a time ten years ahead', async () => {
    const { task } = await create({ name: 'another policy, another time' });
    const tokens = await operator().tokens(task, K, Date.now() + 3_600_000);
    const later = Date.now() + 10 * 365 * 24 * 3_600_000;
    const document = problemDocument('clock-skew', { detail: String(later) });
    const skewed = { status: 401, headers: {}, body: Buffer.from(JSON.stringify(document)) };
    liar.onAsk = ({ method }) => (method === 'POST' ? skewed : undefined);
    // The others tell the policy when the liar has.
    let isTold = (): void => {};
    const told = new Promise<void>((resolve) => {
      isTold = resolve;
    });
    const others = await Promise.all(services.others.map(({ url }) => ServiceProxy.before(() => url)));
    for (const one of others)
      one.onAsk = async ({ path }) => (path.endsWith('/policy') ? void (await told) : undefined);
    liar.onAnswer = ({ path }, answer) => {
      if (path.endsWith('/policy')) {
        const policy = TaskPolicy.decode(answer.body);
        setTimeout(isTold, 100);
        return { ...answer, body: TaskPolicy.encode({ ...policy, uploadLeaseMs: policy.uploadLeaseMs + 1 }) };
      }
      if (!path.endsWith('/authority')) return answer;
      const about = JSON.parse(Buffer.from(answer.body).toString()) as object;
      return { ...answer, body: Buffer.from(JSON.stringify({ ...about, time: later })) };
    };
    const authority = [liar, ...others].map(({ url }) => url).join();
    await fill(await Promise.all(tokens.map((token, n) => device(task, `lied-to-${n}`, token, authority))), 1, task);
    for (const one of others) await one.close();
  });

  it('a revocation and tokens reach the others if it refuses', async () => {
    const { task } = await create({ name: 'an operator' });
    const [token] = await operator().tokens(task, 1, Date.now() + 3_600_000);
    const client = await device(task, 'revoked', token);
    const no = { status: 403, headers: {}, body: Buffer.from(JSON.stringify(problemDocument('role-missing'))) };
    liar.onAsk = () => no;
    const missed: Error[] = [];
    const tolerant = operator(missed, withLiar);
    const [enrolled] = await tolerant.devices(task);
    const strict = new AuthorityOperator({ url: withLiar, token: tokenForAll(withLiar, OPERATOR_TOKEN) });
    await expect(strict.revoke(enrolled?.user ?? '')).rejects.toThrow(ProblemError);
    await expect.poll(() => client.admission()).toMatchObject({ kind: 'rejected', reason: 'revoked' });
    const [another] = await tolerant.tokens(task, 1, Date.now() + 60_000);
    expect(missed.map((error) => error instanceof ProblemError)).toEqual([true]);
    await device(task, 'enrolled-by-three', another, withLiar);
  });

  it('it is named if it calls a new task by another name', async () => {
    liar.onAnswer = (_, answer) => ({ ...answer, body: Buffer.from(JSON.stringify({ task: 'ab'.repeat(32) })) });
    const asked = new AuthorityOperator({ url: liar.url, token: OPERATOR_TOKEN }).createTask(services.policy);
    await expect(asked).rejects.toThrow(liar.url);
  });
});
