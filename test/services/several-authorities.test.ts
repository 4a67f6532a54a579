/** A task of four authorities, three of which every step needs, over HTTP. */
import type { BasaClient } from '@basa/client/node';
import {
  AuthorityOperator,
  type CreateTaskOptions,
  createTask,
  SettingsError,
  tokenForAll,
  UnreachableError,
} from '@basa/client/operator';
import { defineModel, dense } from '@basa/learning';
import { TestServices, until } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const model = defineModel('small', { height: 1, width: 1, channels: 3 }, [dense(2)]);
const K = 3;

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({ count: 4 });
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
const operator = (missed: Error[] = []): AuthorityOperator =>
  new AuthorityOperator({
    url: urls(),
    token: tokenForAll(urls(), OPERATOR_TOKEN),
    onMissed: (error) => missed.push(error),
  });
const oneHot = (place: number): Float32Array =>
  Float32Array.from({ length: model.dimension }, (_, n) => (n === place ? 1 : 0));
const device = (task: string, name: string, token: string | undefined): Promise<BasaClient> =>
  services.client(name, {
    task,
    ...services.authorityPins,
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
