/** The server dies at every durable boundary and starts again: the sum of three one-hot updates still counts exactly once. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AUTHORITY_PATH, modelEntryCodec, SERVER_PATH } from '@basa/protocol';
import type { ServerOptions } from '@basa/server';
import { AT_ONCE, holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import { countsOf, House, oneHot, until } from '@basa/testkit/services/house.ts';
import { blobsOf } from '@basa/testkit/services/snapshot.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let house: House;
beforeAll(async () => {
  house = await House.open();
});
afterAll(() => house.close());

class Death extends Error {}

/** From the boundary on nothing gets further, until the server is started anew. */
interface Boundary {
  isReached: boolean;
  readonly options: Partial<ServerOptions>;
}

/** Requests to the authority whose path ends so fail: before they are sent, or after they were answered. */
function askedAuthority(ending: RegExp, when: 'before' | 'after'): () => Boundary {
  return () => {
    const boundary: Boundary = {
      isReached: false,
      options: {
        fetch: async (url, options) => {
          const isIt = ending.test(String(url)) && options?.method === 'POST';
          if (isIt && when === 'after') await fetch(url, options);
          if (!isIt) return fetch(url, options);
          boundary.isReached = true;
          throw new Death();
        },
      },
    };
    return boundary;
  };
}

/** The first look at the clock once there is a blob like this fails: that is between the blob and its record. */
function wroteBlob(name: () => string): () => Boundary {
  return () => {
    const isThere = (): boolean => {
      const folder = join(house.folder, 'server', 'blobs', name());
      return existsSync(folder) && readdirSync(folder).some((file) => file.startsWith('1-'));
    };
    const boundary: Boundary = {
      isReached: false,
      options: {
        clock: () => {
          boundary.isReached ||= isThere();
          if (boundary.isReached) throw new Death();
          return house.clock();
        },
      },
    };
    return boundary;
  };
}

it.each([
  ['A is fixed, and the authority not asked yet', askedAuthority(/\/close$/, 'before')],
  ['the authority has closed the buffer, and its answer is lost', askedAuthority(/\/close$/, 'after')],
  ['the sum is opened and the model stored, but not recorded', wroteBlob(() => `models/${house.task}`)],
  ['the model is recorded, but not logged', askedAuthority(/\/model-log$/, 'before')],
  ['the model is logged, but the buffer not included', askedAuthority(/\/model-log$/, 'after')],
])('%s: the next start ends it', async (_, makeBoundary) => {
  await house.createTask();
  const boundary = makeBoundary();
  await house.restartServer(boundary.options);
  const clients = await Promise.all(['a', 'b', 'c'].map((name) => house.client(name)));
  const results = await Promise.all(clients.map((client, n) => client.contribute(oneHot(n), { trainedOn: 0 })));
  expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
  await until(() => boundary.isReached);
  await house.server.close().catch((error: unknown) => expect(error).toBeInstanceOf(Death));
  await house.startServer();
  await expectOnce();
});

/** One version, made of each update once, and nothing left of the buffer. */
async function expectOnce(): Promise<void> {
  expect(countsOf(await house.reached(1), 3)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
  await until(async () => (await house.taskState()).buffers === 0);
  const newest = await fetch(new URL(AUTHORITY_PATH.modelEntry(house.task, 'newest'), house.authority.url));
  expect(modelEntryCodec.decode(new Uint8Array(await newest.arrayBuffer())).version).toBe(1);
  const blobs = blobsOf(join(house.folder, 'server', 'blobs'));
  expect(blobs.filter((name) => /incoming|uploads/.test(name))).toEqual([]);
  const metrics = `${house.server.url}${SERVER_PATH.taskMetrics(house.task)}`;
  const { versions } = (await (await fetch(metrics)).json()) as { versions: unknown[] };
  expect(versions).toMatchObject([{ version: 0 }, { version: 1, accepted: 3, dropped: 0 }]);
}

it('a deposit is stored and its answer lost: the same deposit gets the same slot from the next start', async () => {
  await house.createTask();
  const proxy = await house.proxy();
  const client = await house.client('a', { server: proxy.url, retry: AT_ONCE });
  proxy.onAnswer = (asked, answer) => (asked.path.endsWith('/deposits') ? 'cut' : answer);
  await expect(client.contribute(oneHot(0), { trainedOn: 0 })).rejects.toThrow('does not answer');
  await house.restartServer();
  proxy.behave();
  expect(await client.resume()).toMatchObject({ kind: 'accepted', slot: 0 });
  for (const [n, name] of ['b', 'c'].entries())
    await (await house.client(name)).contribute(oneHot(n + 1), { trainedOn: 0 });
  await expectOnce();
});

it('a body is stored and not recorded: the next start takes it from there, without its bytes', async () => {
  await house.createTask();
  const upload = await holdUpload(house, 0);
  const half = upload.body.length >> 1;
  await send(house, upload, { body: upload.body.subarray(0, half) });
  const folder = join(house.folder, 'server', 'blobs', 'uploads', upload.ctx);
  let isReached = false;
  await house.restartServer({
    clock: () => {
      isReached ||= existsSync(folder);
      if (isReached) throw new Death();
      return house.clock();
    },
  });
  const failed = await send(house, upload, { body: upload.body.subarray(half), offset: half });
  expect(failed).toMatchObject({ status: 500 });
  expect(isReached).toBe(true);
  await house.server.close().catch((error: unknown) => expect(error).toBeInstanceOf(Death));
  await house.startServer();
  expect((await send(house, upload, { method: 'HEAD' })).offset).toBe(upload.body.length);
  expect(await upload.client.resume()).toMatchObject({ kind: 'accepted' });
  for (const [n, name] of ['b', 'c'].entries())
    await (await house.client(name)).contribute(oneHot(n + 1), { trainedOn: 0 });
  await expectOnce();
});

it('the authority is down when a buffer is full: it is closed once it is back, and new seats are told to wait', async () => {
  await house.createTask();
  for (const [n, name] of ['b', 'c'].entries())
    await (await house.client(name)).contribute(oneHot(n + 1), { trainedOn: 0 });
  const upload = await holdUpload(house, 0);
  const late = await house.client('late', { retry: AT_ONCE });
  await late.model();
  await house.authority.close();
  expect((await send(house, upload)).answer).toMatchObject({ accepted: true });
  await until(async () => (await house.bufferState(upload.ctx)).status === 'frozen');
  expect(await late.contribute(oneHot(5), { trainedOn: 0 })).toMatchObject({
    reason: 'authority-unreachable',
    update: 'free',
    retryAfterMs: expect.any(Number),
  });
  await house.startAuthority();
  await expectOnce();
  expect(await late.contribute(oneHot(5), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
});
