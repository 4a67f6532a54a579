/** The server dies at every durable boundary and starts again: the sum of three one-hot updates still counts exactly once. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_PATH } from '@basa/protocol/http';
import type { ServerOptions } from '@basa/server';
import { holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import { blobsOf } from '@basa/testkit/services/snapshot.ts';
import { countsOf, oneHot, READER, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open();
});
afterAll(() => services.close());

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
      const folder = join(services.folder, 'server', 'blobs', name());
      return existsSync(folder) && readdirSync(folder).some((file) => file.startsWith('1-'));
    };
    const boundary: Boundary = {
      isReached: false,
      options: {
        clock: () => {
          boundary.isReached ||= isThere();
          if (boundary.isReached) throw new Death();
          return services.clock();
        },
      },
    };
    return boundary;
  };
}

it.each([
  ['the batch is made, and the authority not asked for its vote', askedAuthority(/\/batch-votes$/, 'before')],
  ['the authority has voted, and its answer is lost', askedAuthority(/\/batch-votes$/, 'after')],
  ['the vote is recorded, and the masks not asked for', askedAuthority(/\/releases$/, 'before')],
  ['the authority has released the masks, and its answer is lost', askedAuthority(/\/releases$/, 'after')],
  ['the sum is opened and the model stored, but not recorded', wroteBlob(() => `models/${services.task}`)],
])('%s: the next start ends it', async (_, makeBoundary) => {
  await services.createTask();
  const boundary = makeBoundary();
  await services.restartServer(boundary.options);
  const clients = await Promise.all(['a', 'b', 'c'].map((name) => services.client(name)));
  const results = await Promise.all(clients.map((client, n) => client.contribute(oneHot(n), { trainedOn: 0 })));
  expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
  await until(() => boundary.isReached);
  await services.server.close().catch((error: unknown) => expect(error).toBeInstanceOf(Death));
  await services.startServer();
  await expectOnce();
});

/** One version, made of each update once, and nothing left of the batch. */
async function expectOnce(): Promise<void> {
  expect(countsOf(await services.reached(1), 3)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
  await until(async () => (await services.taskState()).buffers === 0);
  const blobs = blobsOf(join(services.folder, 'server', 'blobs'));
  expect(blobs.filter((name) => /incoming|uploads/.test(name))).toEqual([]);
  const metrics = `${services.server.url}${SERVER_PATH.taskMetrics(services.task)}`;
  const { versions } = (await (await fetch(metrics, { headers: READER })).json()) as { versions: unknown[] };
  expect(versions).toMatchObject([{ version: 0 }, { version: 1, accepted: 3, dropped: 0 }]);
  expect(await (await fetch(`${metrics}?from=1`, { headers: READER })).json()).toEqual({ versions: versions.slice(1) });
}

it('a body is stored and not recorded: the next start takes it from there, without its bytes', async () => {
  await services.createTask();
  const upload = await holdUpload(services, 0);
  const half = upload.body.length >> 1;
  await send(services, upload, { body: upload.body.subarray(0, half) });
  // A small body leaves the folder of its pieces when it is stored.
  const folder = join(services.folder, 'server', 'blobs', 'incoming', 'uploads', upload.name);
  expect(readdirSync(folder)).toHaveLength(1);
  let isReached = false;
  await services.restartServer({
    clock: () => {
      isReached ||= readdirSync(folder).length === 0;
      if (isReached) throw new Death();
      return services.clock();
    },
  });
  const failed = await send(services, upload, { body: upload.body.subarray(half), offset: half });
  expect(failed).toMatchObject({ status: 500 });
  expect(isReached).toBe(true);
  await services.server.close().catch((error: unknown) => expect(error).toBeInstanceOf(Death));
  await services.startServer();
  expect((await send(services, upload, { method: 'HEAD' })).offset).toBe(upload.body.length);
  expect(await upload.client.resume()).toMatchObject({ kind: 'accepted' });
  for (const [n, name] of ['b', 'c'].entries())
    await (await services.client(name)).contribute(oneHot(n + 1), { trainedOn: 0 });
  await expectOnce();
});
