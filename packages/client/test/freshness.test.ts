/** The newest model is the newest: no replay, and no version that is older than one the device has seen signed. */
import { allSamples } from '@basa/learning';
import {
  descriptorCodec,
  drawnBufferCodec,
  endorse,
  HEADER,
  type Head,
  headCodec,
  type ModelEntry,
  modelEntryCodec,
  type NewestModel,
  newestModelCodec,
} from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';
import type { Reply } from './support/http-replies.ts';
import type { HttpServices } from './support/http-services.ts';
import { accepted, startClient, startServices } from './support/setup.ts';
import type { WorldOptions } from './support/test-world.ts';
import { tinyDataset, tinyModel } from './support/tiny.ts';

const isNewest = (path: string): boolean => path.includes('/model-log/newest/');

/** The authority's statement on its newest model, changed and signed by itself, as from a rolled-back one. */
function say({ world }: HttpServices, change: (told: NewestModel) => Partial<NewestModel>): Reply {
  const { signer } = world.authority.ports;
  const told = world.authority.newestModel(new Uint8Array(16));
  const body = { ...told, ...change(told) };
  return {
    status: 200,
    body: newestModelCodec.encode({ ...body, signature: signer.sign(newestModelCodec.statement(body)) }),
  };
}

const nonceOf = (path: string): Uint8Array => Buffer.from(path.split('/').at(-1) ?? '', 'hex');

/** Answers every question after the newest model like this, with the nonce it asks for. */
function answerNewest(services: HttpServices, change: (told: NewestModel) => Partial<NewestModel>): void {
  services.mischief = {
    before: ({ path }) =>
      isNewest(path) ? say(services, (told) => ({ nonce: nonceOf(path), ...change(told) })) : undefined,
  };
}

/** Two contributions make version 1; the entry of version 0 is from before. */
async function movedOn(options: WorldOptions = {}): Promise<{ services: HttpServices; before: ModelEntry }> {
  const services = await startServices({ bufferSize: 2, ...options });
  const before = services.world.authority.newestModel(new Uint8Array(16)).entry;
  for (let n = 0; n < 2; n++) accepted(await (await startClient(services)).contribute(deltaOf(n), { trainedOn: 0 }));
  expect(services.world.version).toBe(1);
  return { services, before };
}

const STALE = { name: 'RefusedError', reason: 'model-stale' };

const MIXED = { policy: { versions: 'unsafeMixed' } } as const;

describe('an answer about the newest model', () => {
  it('must be for this request: a replay is refused, even if the device has seen nothing newer', async () => {
    const services = await startServices();
    const client = await startClient(services);
    let kept: Reply | undefined;
    services.mischief = {
      after: ({ path }, reply) => {
        if (isNewest(path)) kept ??= reply;
        return isNewest(path) && kept !== undefined ? kept : reply;
      },
    };
    expect((await client.model()).version).toBe(0);
    await expect(client.model()).rejects.toMatchObject(STALE);
  });

  it('does not go back to an older version, in this process or the next', async () => {
    const { services, before } = await movedOn();
    const store = memoryStore();
    const client = await connectTo(services, { identity: store });
    expect((await client.model()).version).toBe(1);
    answerNewest(services, () => ({ entry: before }));
    await expect(client.model()).rejects.toThrow('version 0 after 1');
    await client.close();
    const again = await startClient(services, { identity: store });
    await expect(again.model()).rejects.toMatchObject(STALE);
    services.mischief = {};
    expect((await again.model()).version).toBe(1);
  });

  it('is remembered also once a session has ended', async () => {
    const { services, before } = await movedOn();
    const store = memoryStore();
    const client = await connectTo(services, { identity: store });
    const { version } = await client.model();
    accepted(await client.contribute(deltaOf(5), { trainedOn: version }));
    await client.close();
    answerNewest(services, () => ({ entry: before }));
    const again = await startClient(services, { identity: store });
    await expect(again.model()).rejects.toMatchObject(STALE);
  });

  it('does not go back behind a version that a descriptor named', async () => {
    const { services, before } = await movedOn(MIXED);
    const client = await startClient(services);
    accepted(await client.contribute(deltaOf(5), { trainedOn: 0 }));
    answerNewest(services, () => ({ entry: before }));
    await expect(client.model()).rejects.toMatchObject(STALE);
  });

  it('goes with a head of the log that is not behind one the device has seen', async () => {
    const services = await startServices();
    const client = await startClient(services);
    await client.model();
    answerNewest(services, ({ head }) => ({ head: { ...head, sequence: head.sequence - 1 } }));
    await expect(client.model()).rejects.toThrow('the log was further than record');
    answerNewest(services, ({ head }) => ({ head }));
    expect((await client.model()).version).toBe(0);
  });

  it('has one hash for a version', async () => {
    const services = await startServices();
    const client = await startClient(services);
    await client.model();
    const { world } = services;
    const { signer } = world.authority.ports;
    answerNewest(services, ({ entry }) => {
      const body = { ...entry, modelHash: new Uint8Array(32).fill(7) };
      return { entry: endorse(modelEntryCodec, world.policy, signer, body) };
    });
    await expect(client.model()).rejects.toMatchObject({ reason: 'other-model' });
  });
});

describe('a descriptor', () => {
  it.each([
    ['one version a buffer', {}, 'descriptor-version'],
    ['mixed versions', MIXED, 'other-model'],
  ])(
    'that names another hash for a version the device has seen is refused before a deposit (%s)',
    async (_, options, reason) => {
      const services = await startServices(options);
      const client = await startClient(services);
      await client.model();
      const { signer } = services.world.authority.ports;
      services.mischief = {
        after: ({ path }, reply) => {
          if (!path.endsWith('/seats')) return reply;
          const { descriptor, slotKeys } = drawnBufferCodec.decode(reply.body ?? new Uint8Array());
          const other = { ...descriptor, modelHash: new Uint8Array(32).fill(7) };
          const endorsements = [{ authority: 0, signature: signer.sign(descriptorCodec.statement(other)) }];
          return { ...reply, body: drawnBufferCodec.encode({ descriptor: { ...other, endorsements }, slotKeys }) };
        },
      };
      expect(await client.contribute(deltaOf(1), { trainedOn: 0 })).toMatchObject({
        reason,
        update: 'free',
      });
      expect(services.count('/deposits')).toBe(0);
    },
  );
});

describe('heads', () => {
  it('of a replaced branch are old, also for a device that starts again', async () => {
    const services = await startServices();
    const store = memoryStore();
    const first = await connectTo(services, { identity: store });
    const { authority } = services.world;
    await startClient(services); // its enrolment is what the authority forgets
    await first.model();
    const old = authority.core.head();
    authority.log = authority.log.slice(0, -1);
    authority.witness = undefined;
    authority.restart();
    await first.model();
    accepted(await first.contribute(deltaOf(1), { trainedOn: 0 })); // the end of a session writes all that lasts anew
    await first.close();
    const current = authority.core.head();
    expect(current.branch).not.toEqual(old.branch);
    const again = await startClient(services, { identity: store });
    // Every answer carries the old head from now on, and the model's is bound to it.
    services.mischief = {
      before: ({ path }) =>
        isNewest(path)
          ? say(services, () => ({ nonce: nonceOf(path), head: { ...old, sequence: old.sequence + 100 } }))
          : undefined,
      after: (_, reply) => ({ ...reply, headers: { ...reply.headers, [HEADER.head]: hexOf(old) } }),
    };
    await expect(again.model()).rejects.toMatchObject(STALE);
    const shown = services.asked.at(-1)?.headers[HEADER.head];
    expect(shown).toBe(hexOf(current));
  });
});

describe('run', () => {
  it('continues after a replay: it reports the replay, waits, and asks again', async () => {
    const { services, before } = await movedOn();
    const client = await startClient(services);
    await client.model();
    let lies = 2;
    services.mischief = {
      before: ({ path }) =>
        isNewest(path) && lies-- > 0 ? say(services, () => ({ nonce: nonceOf(path), entry: before })) : undefined,
    };
    const trainer = { model: tinyModel, train: () => ({ delta: deltaOf(9), loss: 1, samples: 1 }) };
    const reasons: string[] = [];
    client.on('rejected', ({ reason }) => reasons.push(reason));
    expect(await client.run(trainer, allSamples(tinyDataset), { rounds: 1 })).toEqual({
      accepted: 1,
      rejected: 2,
      idle: 0,
      ended: 'rounds',
    });
    expect(reasons).toEqual(['model-stale', 'model-stale']);
  });
});

const hexOf = (head: Head): string => Buffer.from(headCodec.encode(head)).toString('hex');
