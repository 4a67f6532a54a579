/** The client SDK against both services as they are: no part in between is made for a test. */
import { join } from 'node:path';
import { BasaClient, UnreachableError } from '@basa/client/node';
import { inMemoryStoreForTests, BasaClient as WebClient } from '@basa/client/web';
import { allSamples, createReferenceEngine, createTrainer, defineModel, dense } from '@basa/learning';
import { createWebSigner, webRandomBytes } from '@basa/runtime/web';
import { afterEach, describe, expect, it } from 'vitest';
import type { RealOptions } from '../support/real-services.ts';
import { RealServices } from '../support/real-services.ts';

const model = defineModel('tiny', { height: 1, width: 1, channels: 4 }, [dense(8)]);
const dataset = {
  name: 'tiny',
  shape: model.input,
  classes: 8,
  inputs: Float32Array.from({ length: 4 * 16 }, (_, n) => Math.cos(n)),
  labels: Uint8Array.from({ length: 16 }, (_, n) => n % 8),
};
const retry = { attempts: 3, firstWaitMs: 20, longestWaitMs: 2000, timeoutMs: 10_000 };
const delta = (n: number): Float32Array =>
  Float32Array.from({ length: model.dimension }, (_, k) => Math.sin(k + 100 * n));

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function startServices(options?: RealOptions): Promise<RealServices> {
  const services = new RealServices(model, options);
  open.push(() => services.stop());
  return await services.start();
}

async function connect(services: RealServices, name: string, more: object = {}): Promise<BasaClient> {
  const identity = join(services.folder, name);
  const client = await BasaClient.connect({ ...(await services.invitation()), identity, retry, ...more });
  open.push(() => client.close());
  return client;
}

/** Asks until the authority has decided. */
async function decided(client: BasaClient, contribution: { ctx: string; joinTag: string }): Promise<string> {
  for (;;) {
    const outcome = await client.outcome(contribution);
    if (outcome !== 'undecided') return outcome;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('clients and services', () => {
  it('three devices run two rounds; the services make two models of it', async () => {
    const services = await startServices();
    const clients = await Promise.all(['a', 'b', 'c'].map((name) => connect(services, name)));
    const trainer = () => createTrainer(createReferenceEngine(model));
    const runs = clients.map((client) => client.run(trainer(), allSamples(dataset), { rounds: 2 }));
    expect(await Promise.all(runs)).toEqual(Array(3).fill({ accepted: 2, rejected: 0, ended: 'rounds' }));
    const [first] = clients;
    for (let version = 0; version < 2; ) version = (await first?.model())?.version ?? 0;
  });

  it('a server that goes down in the middle of an upload, and an authority before a key, find the same session', async () => {
    const services = await startServices();
    const clients = await Promise.all(['a', 'b', 'c'].map((name) => connect(services, name, { pieceBytes: 64 })));
    const [a, b, c] = clients as [BasaClient, BasaClient, BasaClient];
    const outage = { upload: () => services.stopServer(), key: () => services.stopAuthority() };
    for (const [client, step] of [[a, 'upload'] as const, [b, 'key'] as const]) {
      let down: Promise<void> | undefined;
      const off = client.on('progress', (event) => {
        if (event.step === step && (event.sent ?? 64) > 0) down ??= outage[step]();
      });
      const trainedOn = (await client.model()).version;
      const n = client === a ? 1 : 2;
      await expect(client.contribute(delta(n), { trainedOn })).rejects.toThrow();
      off();
      await down;
      expect(client.isInterrupted).toBe(true);
      if (step === 'upload') await services.startServer();
      else await services.startAuthority();
      expect(await client.resume()).toMatchObject({ kind: 'accepted' });
    }
    const last = await c.contribute(delta(3), { trainedOn: 0 });
    if (last.kind !== 'accepted') throw new Error(last.reason);
    expect(await decided(c, last)).toBe('included');
  });

  it('a device that drops out is mended by the others, and its update goes elsewhere with the word of the authority', async () => {
    const services = await startServices({ uploadLeaseMs: 1500 });
    const [a, b, c] = (await Promise.all(['a', 'b', 'c'].map((name) => connect(services, name)))) as [
      BasaClient,
      BasaClient,
      BasaClient,
    ];
    const controller = new AbortController();
    a.on('progress', ({ step }) => step === 'upload' && controller.abort());
    await a.contribute(delta(1), { trainedOn: 0, signal: controller.signal }).catch(() => undefined);
    const contributions = [];
    for (const [n, client] of [b, c].entries())
      contributions.push(await client.contribute(delta(2 + n), { trainedOn: 0 }));
    const [mine] = contributions;
    if (mine?.kind !== 'accepted') throw new Error('not accepted');
    expect(await decided(b, mine)).toBe('included');
    expect(await a.resume()).toMatchObject({ kind: 'rejected', update: 'held' });
    expect(await a.contribute(delta(1), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
  });

  it('browser code and Node code share a buffer', async () => {
    const services = await startServices({ bufferSize: 2 });
    const node = await connect(services, 'node');
    const identity = inMemoryStoreForTests(createWebSigner(webRandomBytes(32)));
    const web = await WebClient.connect({ ...(await services.invitation()), identity, retry });
    open.push(() => web.close());
    expect(await web.contribute(delta(1), { trainedOn: 0 })).toMatchObject({ kind: 'accepted', slot: 0 });
    const result = await node.contribute(delta(2), { trainedOn: 0 });
    if (result.kind !== 'accepted') throw new Error(result.reason);
    expect(await decided(node, result)).toBe('included');
  });

  it('paper mode runs over the network, behind its unsafe name', async () => {
    const services = await startServices({ bufferSize: 2, mode: 'paper' });
    for (const [n, name] of ['a', 'b'].entries()) {
      const client = await connect(services, name);
      expect(await client.unsafePaperContribute(delta(n), { trainedOn: 0 })).toMatchObject({
        kind: 'accepted',
        slot: n,
      });
    }
  });

  it('nobody at the address, a wrong token and a revoked device are told apart', async () => {
    const services = await startServices();
    const invitation = await services.invitation();
    const identity = (name: string) => join(services.folder, name);
    await expect(
      BasaClient.connect({ ...invitation, server: 'http://127.0.0.1:9', identity: identity('x'), retry }),
    ).rejects.toBeInstanceOf(UnreachableError);
    await expect(BasaClient.connect({ ...invitation, token: 'wrong', identity: identity('y') })).rejects.toMatchObject({
      code: 'enrolment-token-invalid',
    });
    const client = await connect(services, 'z');
    const { createHash } = await import('node:crypto');
    const user = createHash('sha256').update(client.deviceKey).digest('hex');
    await services.ask(services.authority.url, '/v1/revocations', { user });
    expect(await client.contribute(delta(1), { trainedOn: 0 })).toMatchObject({ reason: 'revoked', update: 'free' });
  });
});
