/** A service that was restored from an old snapshot: what it forgot is given up, and nothing is counted twice. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { blobsOf } from '@basa/testkit/services/snapshot.ts';
import { countsOf, oneHot, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services.close());

const folderOf = (which: string): string => join(services.folder, which);

/** Sets the clock of a folder back: `work` happened, and is forgotten. */
async function forgotten(which: 'authority' | 'server', work: () => Promise<unknown>): Promise<void> {
  const start = () => (which === 'authority' ? services.startAuthority() : services.startServer());
  await services[which].close();
  cpSync(folderOf(which), folderOf('old'), { recursive: true });
  await start();
  await work();
  await services[which].close();
  rmSync(folderOf(which), { recursive: true });
  cpSync(folderOf('old'), folderOf(which), { recursive: true });
  await start();
}

it('an authority that forgot its epochs opens nothing of them; the model is repeated, and its devices give on it', async () => {
  services = await TestServices.open();
  const clients = await Promise.all(['a', 'b', 'c'].map((name) => services.client(name)));
  const accepted: string[] = [];
  await forgotten('authority', async () => {
    await services.client('enrolled, and forgotten');
    for (const [n, client] of clients.slice(0, 2).entries()) {
      const contribution = await client.contribute(oneHot(n), { trainedOn: 0 });
      if (contribution.kind === 'accepted') accepted.push(contribution.ctx);
    }
  });
  expect(accepted).toHaveLength(2);
  await clients[2]?.contribute(oneHot(2), { trainedOn: 0 });
  for (const upload of accepted)
    expect(await services.fateIs(upload, 'refused')).toMatchObject({ reason: 'epoch-over' });
  // The model is repeated once, so that all devices can give on a version again.
  expect(countsOf(await services.reached(1), 3)).toEqual(Array(8).fill(0));
  for (const [n, client] of clients.entries()) {
    await client.model();
    await client.contribute(oneHot(3 + n), { trainedOn: 1 });
  }
  expect(countsOf(await services.reached(2), 3)).toEqual([0, 0, 0, 1, 1, 1, 0, 0]);
});

it('a model of a batch whose release the authority forgot is never logged, and the version is made again without it', async () => {
  services = await TestServices.open({ policy: { bufferSize: 2 } });
  const clients = await Promise.all(['a', 'b', 'c', 'd'].map((name) => services.client(name)));
  const contributions: string[] = [];
  await forgotten('authority', async () => {
    let isWaiting = false;
    await services.restartServer({
      fetch: (url, options) => {
        if (!String(url).endsWith('/model-log')) return fetch(url, options);
        isWaiting = true;
        return Promise.reject(new Error('the model waits'));
      },
    });
    for (const [n, client] of clients.slice(0, 2).entries()) {
      const result = await client.contribute(oneHot(n), { trainedOn: 0 });
      if (result.kind === 'accepted') contributions.push(result.ctx);
    }
    await until(() => isWaiting);
  });
  const models = () => blobsOf(join(services.folder, 'server', 'blobs', 'models')).filter((name) => /\/1-/.test(name));
  const [forgottenOne] = models();
  expect(models()).toHaveLength(1);
  await services.restartServer();
  await services.fateIs(contributions[0] ?? '', 'unknown');
  await until(() => !models().includes(forgottenOne ?? ''));
  expect(countsOf(await services.reached(1), 2)).toEqual(Array(8).fill(0)); // the model again, after the rollback
  for (const [n, client] of clients.slice(2).entries()) await client.contribute(oneHot(2 + n), { trainedOn: 1 });
  expect(countsOf(await services.reached(2), 2)).toEqual([0, 0, 1, 1, 0, 0, 0, 0]);
});
