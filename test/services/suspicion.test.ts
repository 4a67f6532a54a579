/** A device that masks something else than it promised, over HTTP: suspected, tested, suspended, cleared or banned. */

import { connect } from '@basa/client/internal/connect.ts';
import { type BasaClient, inMemoryStoreForTests, nodeOutside } from '@basa/client/node';
import { toHex } from '@basa/masking';
import { SERVER_PATH, userIdOf } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { oneHot, operate, scraped, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services?.close());

interface Suspects {
  readonly suspects: readonly {
    readonly user: string;
    readonly state: string;
    readonly suspicion: number;
    readonly sumsLeft?: number;
  }[];
}

const suspects = async () =>
  (await operate<Suspects>(services.server.url, 'GET', SERVER_PATH.suspicions(services.task))).suspects;

/** Its sum fails the guard words. */
async function liar(): Promise<{ readonly client: BasaClient; readonly user: string }> {
  const signer = createNodeSigner(nodeRandomBytes(32));
  const real = nodeOutside();
  const mask: typeof real.mask = async (vector, plan) => {
    await real.mask(vector, plan);
    vector[1] = ((vector[1] ?? 0) + 1) >>> 0;
  };
  const client = await connect({ ...real, mask }, inMemoryStoreForTests(signer), {
    server: services.server.url,
    authority: services.authority.url,
    authorityKey: toHex(services.authority.publicKey),
    task: services.task,
    token: await services.token(),
  });
  return { client, user: toHex(userIdOf(nodeSuite, signer.publicKey)) };
}

/** One sum of these, which all of them wait for. */
async function sum(clients: readonly BasaClient[]): Promise<string> {
  const { version = 0 } = await services.taskState();
  const results = await Promise.all(
    clients.map((client, n) =>
      client.contribute(
        oneHot(n, 8).map((x) => x * Math.random()),
        { trainedOn: version },
      ),
    ),
  );
  const ctxs = new Set(results.map((result) => (result.kind === 'accepted' ? result.ctx : result.reason)));
  expect([...ctxs]).toHaveLength(1);
  const [ctx = ''] = ctxs;
  let status = '';
  await until(async () => {
    ({ status } = await services.bufferState(ctx));
    return status === 'included' || status === 'quarantined';
  });
  return status;
}

it('spoils sums until it is suspended, and honest devices go on; an operator clears or bans it', async () => {
  services = await TestServices.open({ policy: { bufferSize: 3, minimum: 3 } });
  const honest = await Promise.all(['a', 'b', 'c', 'd'].map((name) => services.client(name)));
  const [a, b, c, d] = honest as [BasaClient, BasaClient, BasaClient, BasaClient];
  for (let n = 0; n < 5; n++) {
    expect(await sum([a, b, c])).toBe('included');
    expect(await sum([b, c, d])).toBe('included');
  }
  expect(await suspects()).toEqual([]);
  const { client, user } = await liar();
  expect(await sum([client, a, b])).toBe('quarantined');
  expect(await suspects()).toMatchObject([{ user, state: 'suspect' }]);

  // A strong suspect is tested in one buffer of five: the others are filled by honest devices meanwhile.
  const offer = async () =>
    client.contribute(
      oneHot(5).map((x) => x * Math.random()),
      { trainedOn: (await services.taskState()).version ?? 0 },
    );
  for (let tries = 0; (await suspects())[0]?.state !== 'suspended'; tries++) {
    if (tries > 60) throw new Error('it was never suspended');
    const answer = await offer();
    if (answer.kind === 'rejected') {
      expect(answer).toMatchObject({ reason: 'no-place', update: 'free' });
      expect(answer.detail).toContain('waits for a buffer');
      expect(await sum([a, b, c])).toBe('included');
    } else expect(await sum([c, d])).toBe('quarantined');
  }
  const refused = await offer();
  expect(refused).toMatchObject({ kind: 'rejected', reason: 'suspended', detail: 'for the next 50 sums of this task' });
  expect(refused.kind === 'rejected' && (refused.retryAfterMs ?? 0)).toBeGreaterThanOrEqual(1000);
  expect(await client.admission()).toMatchObject({ reason: 'suspended' });
  expect(await suspects()).toMatchObject([{ user, state: 'suspended', sumsLeft: 50 }]);
  await services.restartServer();
  expect(await offer()).toMatchObject({ reason: 'suspended' });
  expect(await sum([a, b, d])).toBe('included');
  await until(async () => {
    const metrics = await scraped(services.server.url);
    return [...metrics].some(([name, value]) => name.startsWith('basa_devices_suspended{') && value === 1);
  });

  const decide = (state: string) =>
    operate(services.server.url, 'PUT', SERVER_PATH.suspicion(services.task, user), { state });
  expect(await decide('clear')).toMatchObject({ user, state: 'clear' });
  expect(await suspects()).toEqual([]);
  expect(await client.admission()).toMatchObject({ kind: 'place' });
  expect(await decide('banned')).toMatchObject({ user, state: 'banned' });
  expect(await offer()).toMatchObject({ reason: 'banned', update: 'free' });
});
