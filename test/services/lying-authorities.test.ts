/** Four authorities over HTTP, three of which every step needs: the first one lies, the last one is slow. */
import type { BasaClient } from '@basa/client/node';
import { AuthorityOperator, createTask, ProblemError, tokenForAll } from '@basa/client/operator';
import { type Answer, type Asked, ServiceProxy } from '@basa/conformance/service-proxy.ts';
import { defineModel, dense } from '@basa/learning';
import { problemDocument } from '@basa/protocol/internal/http/problems.ts';
import { TaskPolicy } from '@basa/protocol/policy';
import { TestServices, until } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

const model = defineModel('small', { height: 1, width: 1, channels: 3 }, [dense(2)]);
const K = 3;
const SLOW_MS = 700;
const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;

let services: TestServices;
let liar: ServiceProxy;
let slow: ServiceProxy;
const urls = (): string => [liar.url, services.others[0]?.url, services.others[1]?.url, slow.url].join(',');

beforeAll(async () => {
  services = await TestServices.open({ count: 4, server: { revocationsMs: 50 } });
  liar = await services.proxy('authority');
  slow = await ServiceProxy.before(() => services.others[2]?.url ?? '');
  const authorities = urls()
    .split(',')
    .map((url, n) => ({ url, publicKey: services.authorities[n]?.publicKey as Uint8Array }));
  await services.restartServer({ authorities });
});
afterAll(async () => {
  await services.close();
  await slow.close();
});
beforeEach(() => {
  liar.behave();
  slow.behave();
});

const create = async (name: string) => {
  const { task } = await createTask({
    server: services.server.url,
    authority: urls(),
    operatorToken: OPERATOR_TOKEN,
    authorityToken: tokenForAll(urls(), OPERATOR_TOKEN),
    model,
    name,
    bufferSize: K,
    minimum: K,
    clip: 1,
  });
  const owners = new AuthorityOperator({ url: urls(), token: tokenForAll(urls(), OPERATOR_TOKEN) });
  return { task, tokens: await owners.tokens(task, K, Date.now() + 3_600_000) };
};
const device = (task: string, name: string, token = '', authority = urls()): Promise<BasaClient> =>
  services.client(name, {
    task,
    token,
    authority,
    authorityKey: services.authorityPins.authorityKey,
    retry: { attempts: 3 },
  });
const devices = (task: string, name: string, tokens: readonly string[]): Promise<readonly BasaClient[]> =>
  Promise.all(tokens.map((token, n) => device(task, `${name}-${n}`, token)));
async function contribute(clients: readonly BasaClient[], version: number): Promise<void> {
  const delta = Float32Array.from({ length: model.dimension }, (_, n) => (n === version ? 1 : 0));
  const told = await Promise.all(clients.map((client) => client.contribute(delta, { trainedOn: version - 1 })));
  expect(told.map(({ kind }) => kind)).toEqual(clients.map(() => 'accepted'));
}
const isSlowAt = (part: string) => async (asked: Asked) => {
  if (asked.path.includes(part)) await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  return undefined;
};
const json = (value: object, answer: Answer): Answer => ({ ...answer, body: Buffer.from(JSON.stringify(value)) });

/** The same answer with one bit changed. */
const otherBytes = (answer: Answer): Answer => ({
  ...answer,
  body: answer.body.map((byte, n) => (n === 40 ? byte ^ 1 : byte)),
});

it('devices continue if the first authority shows another policy and a time ten years ahead', async () => {
  const { task, tokens } = await create('another policy, another time');
  // The others tell the policy when the liar has.
  let isTold = (): void => {};
  const told = new Promise<void>((resolve) => {
    isTold = resolve;
  });
  const later = await Promise.all(services.others.map(({ url }) => ServiceProxy.before(() => url)));
  for (const one of later) one.onAsk = async ({ path }) => (path.endsWith('/policy') ? void (await told) : undefined);
  liar.onAsk = ({ method }) => {
    if (method !== 'POST') return undefined;
    const detail = String(Date.now() + TEN_YEARS_MS);
    return { status: 401, headers: {}, body: Buffer.from(JSON.stringify(problemDocument('clock-skew', { detail }))) };
  };
  liar.onAnswer = ({ path }, answer) => {
    if (path.endsWith('/policy')) {
      const policy = TaskPolicy.decode(answer.body);
      setTimeout(isTold, 100);
      return { ...answer, body: TaskPolicy.encode({ ...policy, uploadLeaseMs: policy.uploadLeaseMs + 1 }) };
    }
    if (!path.endsWith('/authority')) return answer;
    const about = JSON.parse(Buffer.from(answer.body).toString()) as object;
    return json({ ...about, time: Date.now() + TEN_YEARS_MS }, answer);
  };
  const authority = [liar, ...later].map(({ url }) => url).join(',');
  const clients = await Promise.all(tokens.map((token, n) => device(task, `lied-to-${n}`, token, authority)));
  await contribute(clients, 1);
  await services.reached(1, task);
  for (const one of later) await one.close();
});

it.each(['/inspections', '/batch-votes', '/releases'])(
  'a batch is summed if one authority gives other answers to %s and another one is slow',
  async (part) => {
    const { task, tokens } = await create(`a liar and a slow one at ${part}`);
    const clients = await devices(task, `slowed${part.slice(1)}`, tokens);
    liar.onAnswer = ({ path }, answer) => (path.endsWith(part) && answer.status < 400 ? otherBytes(answer) : answer);
    slow.onAsk = isSlowAt(part);
    await contribute(clients, 1);
    await services.reached(1, task);
  },
);

it('the server asks less and less often while too few agree, and continues when they do', async () => {
  const { task, tokens } = await create('too few');
  const clients = await devices(task, 'waiting', tokens);
  let asked = 0;
  liar.onAnswer = ({ path }, answer) => {
    if (!path.endsWith('/batch-votes') || answer.status >= 400) return answer;
    asked++;
    return otherBytes(answer);
  };
  slow.onAsk = ({ path }) => (path.endsWith('/batch-votes') ? 'cut' : undefined);
  await contribute(clients, 1);
  await until(() => asked > 0);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(asked).toBeLessThan(10); // at 0, 0.5, 1.5 and 3.5 s, twice at most; without waits sixty times
  liar.behave();
  slow.behave();
  await services.reached(1, task);
});

it('a revocation and tokens reach the others if the first authority refuses', async () => {
  const { task, tokens } = await create('an operator');
  const [client] = (await devices(task, 'revoked', tokens.slice(0, 1))) as [BasaClient];
  const no = { status: 403, headers: {}, body: Buffer.from(JSON.stringify(problemDocument('role-missing'))) };
  liar.onAsk = () => no;
  const token = tokenForAll(urls(), OPERATOR_TOKEN);
  const strict = new AuthorityOperator({ url: urls(), token });
  const missed: Error[] = [];
  const operator = new AuthorityOperator({
    url: urls(),
    token,
    onMissed: (error) => missed.push(error),
  });
  const [enrolled] = await operator.devices(task);
  await expect(strict.revoke(enrolled?.user ?? '')).rejects.toThrow(ProblemError);
  await expect.poll(() => client.admission()).toMatchObject({ kind: 'rejected', reason: 'revoked' });
  const [enrolment] = await operator.tokens(task, 1, Date.now() + 60_000);
  expect(missed.map((error) => error instanceof ProblemError)).toEqual([true]);
  await device(task, 'enrolled-by-three', enrolment);
});

it('an authority that calls a new task by another name is named', async () => {
  liar.onAnswer = (_, answer) => json({ task: 'ab'.repeat(32) }, answer);
  const operator = new AuthorityOperator({ url: liar.url, token: OPERATOR_TOKEN });
  await expect(operator.createTask(services.policy)).rejects.toThrow(liar.url);
});
