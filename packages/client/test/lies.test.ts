/** Services that lie: whatever is not signed by whom it should be, or departs from the pins, is refused. */
import { type Signer, toHex } from '@basa/masking';
import {
  authorityMessages,
  certificateCodec,
  descriptorCodec,
  drawnBufferCodec,
  type Endorsed,
  type EndorsedCodec,
  encodePolicy,
  endorse,
  HEADER,
  headCodec,
  type ModelEntry,
  millis,
  modelEntryCodec,
  newestModelCodec,
  outcomeCodec,
  type Receipt,
  receiptCodec,
  type SignedDescriptor,
  type TaskId,
  type Ticket,
  taskIdOf,
  ticketCodec,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { inMemoryStoreForTests } from '../src/node/index.ts';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';
import type { Asked } from './support/http-listener.ts';
import type { HttpServices } from './support/http-services.ts';
import { accepted, startClient, startServices } from './support/setup.ts';
import { parametersOf } from './support/test-world.ts';

const stranger = createNodeSigner(nodeRandomBytes(32));

/** Changes the body of every answer to requests whose path ends or is so. */
function forge(
  services: HttpServices,
  path: string | RegExp,
  change: (body: Uint8Array, asked: Asked) => Uint8Array,
): void {
  const isMeant = (asked: string): boolean => (typeof path === 'string' ? asked.endsWith(path) : path.test(asked));
  services.mischief = {
    after: (asked, reply) =>
      isMeant(asked.path) && reply.status === 200
        ? { ...reply, body: change(reply.body ?? new Uint8Array(), asked) }
        : reply,
  };
}

describe('connecting', () => {
  it('to an authority with another key is refused', async () => {
    const services = await startServices();
    // The head it signs is the first thing that does not verify.
    const elsewhere = connectTo(services, { authorityKey: toHex(stranger.publicKey) });
    await expect(elsewhere).rejects.toMatchObject({ reason: 'wrong-authority' });
    forge(services, '/v1/authority', () => Buffer.from(JSON.stringify({ publicKey: toHex(stranger.publicKey) })));
    await expect(connectTo(services)).rejects.toMatchObject({ reason: 'wrong-authority' });
  });

  it('with a policy that does not hash to the pinned task is refused', async () => {
    const services = await startServices();
    forge(services, '/policy', () => encodePolicy({ ...services.world.policy, minimum: 3 }));
    await expect(connectTo(services)).rejects.toMatchObject({ reason: 'wrong-policy' });
  });

  it('to another server than the one of the policy is refused', async () => {
    const [services, other] = [await startServices(), await startServices()];
    await expect(connectTo(services, { server: other.serverUrl })).rejects.toMatchObject({ reason: 'wrong-server' });
  });

  it('to an unknown task, or with a used token, gives a clear error', async () => {
    const services = await startServices();
    await expect(connectTo(services, { task: 'ab'.repeat(32) })).rejects.toMatchObject({ code: 'task-unknown' });
    await expect(connectTo(services, { token: 'used' })).rejects.toMatchObject({ code: 'enrolment-token-invalid' });
    await expect(connectTo(services, { task: 'short' })).rejects.toThrow('64 lower-case hexadecimal digits');
    await expect(connectTo(services, { server: 'http://localhost/basa' })).rejects.toThrow('without a path');
  });

  it.each([
    ['for another device', { deviceKey: stranger.publicKey }, false],
    ['for another task', { task: new Uint8Array(32).fill(7) as TaskId }, false],
    ['that the authority did not sign', {}, true],
  ])('with a certificate %s is refused, and it is not kept', async (_, change, isForged) => {
    const services = await startServices();
    const device = createNodeSigner(nodeRandomBytes(32));
    const store = inMemoryStoreForTests(device);
    const { task, now, policy, authority } = services.world;
    const body = { task, deviceKey: device.publicKey, issuedAt: now, notAfter: millis(now + 1e6), ...change };
    const signed = isForged
      ? endorse(certificateCodec, { authorities: [stranger.publicKey] }, stranger, body)
      : endorse(certificateCodec, policy, authority.ports.signer, body);
    forge(services, '/enrolments', () => certificateCodec.encode(signed));
    await expect(connectTo(services, { identity: store })).rejects.toMatchObject({ reason: 'wrong-certificate' });
    expect(await store.entries()).toEqual([]);
  });

  it('with the store of a device of another task is refused', async () => {
    const [services, other] = [await startServices(), await startServices()];
    const store = memoryStore();
    await startClient(services, { identity: store });
    await expect(connectTo(other, { identity: store })).rejects.toMatchObject({ reason: 'store-of-another-task' });
  });
});

describe('a model', () => {
  it('that is not the one of the log is refused', async () => {
    const services = await startServices();
    const client = await startClient(services);
    forge(services, '/models/0', () => new Uint8Array(parametersOf(1).buffer));
    await expect(client.model()).rejects.toMatchObject({ reason: 'model-not-logged' });
    forge(services, '/models/0', (body) => body.subarray(0, 8));
    await expect(client.model()).rejects.toThrow('8 bytes instead of 160');
    forge(services, '/models/0', (body) => Buffer.concat([body, body]));
    await expect(client.model()).rejects.toThrow('more than 160 bytes');
  });

  it('with an entry the authority did not sign, or of another task, is refused', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const { signer } = services.world.authority.ports;
    const forgeNewest = (by: Signer, entryBy: Signer, change: Partial<ModelEntry> = {}): void =>
      forge(services, /\/model-log\/newest\//, (body) => {
        const told = newestModelCodec.decode(body);
        const entry = { ...told.entry, ...change };
        const newest = { ...told, entry: signedBy(entryBy, modelEntryCodec, entry) };
        return newestModelCodec.encode({ ...newest, signature: by.sign(newestModelCodec.statement(newest)) });
      });
    forgeNewest(stranger, signer);
    await expect(client.model()).rejects.toMatchObject({ reason: 'model-not-logged' });
    forgeNewest(signer, stranger, { version: 99 });
    await expect(client.model()).rejects.toMatchObject({ reason: 'model-not-logged' });
    forgeNewest(signer, signer, { task: new Uint8Array(32) as never, version: 99 });
    await expect(client.model()).rejects.toMatchObject({ reason: 'model-not-logged' });
    // Nor is anything of it remembered.
    forgeNewest(signer, signer);
    expect((await client.model()).version).toBe(0);
  });
});

describe('a contribution is rejected, and nothing of the update is sent, if', () => {
  const seat = (change: (descriptor: SignedDescriptor) => SignedDescriptor) => (services: HttpServices) =>
    forge(services, '/seats', (body) => {
      const { descriptor, slotKeys } = drawnBufferCodec.decode(body);
      return drawnBufferCodec.encode({ descriptor: change(descriptor), slotKeys });
    });
  const list = (change: (slotKeys: Uint8Array) => Uint8Array) => (services: HttpServices) =>
    forge(services, '/seats', (body) => {
      const { descriptor, slotKeys } = drawnBufferCodec.decode(body);
      return drawnBufferCodec.encode({ descriptor, slotKeys: change(slotKeys) });
    });
  const answer = (change: (services: HttpServices, ticket: Ticket, inbox: readonly object[]) => object) => {
    return (services: HttpServices) =>
      forge(services, '/deposits', (body) => {
        const { depositAnswer } = services.world.server.messages;
        const { ticket, inbox } = depositAnswer.decode(body);
        return depositAnswer.encode({ ticket, inbox, ...change(services, ticket, inbox) });
      });
  };
  const key = (change: (receipt: Receipt) => Receipt) => (services: HttpServices) =>
    forge(services, '/keys', (body) => {
      const { keyAnswer } = authorityMessages(3);
      const answer = keyAnswer.decode(body);
      return keyAnswer.encode({ ...answer, receipt: change(answer.receipt) });
    });
  const resigned = (ticket: Ticket, services: HttpServices): Ticket => ({
    ...ticket,
    signature: services.world.server.ports.signer.sign(ticketCodec.statement(ticket)),
  });

  it.each([
    [
      'the slot keys are others than the authority signed for',
      'slot-keys-invalid',
      list((slotKeys) => slotKeys.map((byte, n) => (n === 40 ? byte ^ 1 : byte))),
    ],
    ['there are no slot keys', 'slot-keys-invalid', list(() => new Uint8Array())],
    [
      'the descriptor is signed by a stranger',
      'descriptor-invalid',
      seat((descriptor) => signedBy(stranger, descriptorCodec, descriptor)),
    ],
    [
      'a line of the descriptor is changed',
      'descriptor-invalid',
      seat((descriptor) => ({ ...descriptor, expiry: millis(descriptor.expiry + 1) })),
    ],
    [
      'the descriptor names another policy, even signed by the authority',
      'descriptor-policy',
      (services: HttpServices) => {
        const { signer, suite } = services.world.authority.ports;
        const task = taskIdOf(suite, { ...services.world.policy, clip: 1 });
        seat((descriptor) => signedBy(signer, descriptorCodec, { ...descriptor, task }))(services);
      },
    ],
    [
      'the ticket is signed by a stranger',
      'ticket-invalid',
      answer((_, ticket) => ({ ticket: { ...ticket, signature: stranger.sign(ticketCodec.statement(ticket)) } })),
    ],
    [
      'the ticket is of another deposit',
      'ticket-not-mine',
      answer((services, ticket) => ({ ticket: resigned({ ...ticket, root: new Uint8Array(32) as never }, services) })),
    ],
    ['an entry of the inbox is left out', 'inbox-incomplete', answer((_, __, inbox) => ({ inbox: inbox.slice(1) }))],
    [
      'an entry of the inbox is made up',
      'inbox-proof',
      answer((_, __, inbox) => ({ inbox: inbox.map((entry) => ({ ...entry, commitment: new Uint8Array(32) })) })),
    ],
    [
      'the ticket tells another history',
      'view-mismatch',
      answer((services, ticket) => ({ ticket: resigned({ ...ticket, view: new Uint8Array(32) as never }, services) })),
    ],
    [
      'the receipt is signed by a stranger',
      'receipt-invalid',
      key((receipt) => signedBy(stranger, receiptCodec, receipt)),
    ],
    ['the receipt is of another slot', 'receipt-invalid', key((receipt) => ({ ...receipt, slot: 2 as never }))],
  ])('%s', async (_, reason, lie) => {
    const services = await startServices();
    accepted(await (await startClient(services)).contribute(deltaOf(0), { trainedOn: 0 }));
    const client = await startClient(services);
    const uploads = services.count('/upload');
    lie(services);
    expect(await client.contribute(deltaOf(1), { trainedOn: 0 })).toMatchObject({ reason, update: 'free' });
    expect(services.count('/upload')).toBe(uploads);
    expect(client.isInterrupted).toBe(false);
  });
});

describe('the authority', () => {
  it("is not believed about an outcome it did not sign: the server's 'aborted' frees nothing", async () => {
    const services = await startServices();
    const client = await startClient(services);
    const contribution = accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    forge(services, '/outcome', (body) => {
      const { ctx } = outcomeCodec.decode(body);
      const outcome = { ctx, status: 'aborted' as const, accepted: [] };
      const { signer } = services.world.server.ports;
      return outcomeCodec.encode({ ...outcome, signature: signer.sign(outcomeCodec.statement(outcome)) });
    });
    await expect(client.outcome(contribution)).rejects.toMatchObject({ reason: 'outcome-invalid' });
    await expect(client.contribute(deltaOf(1), { trainedOn: 0 })).rejects.toMatchObject({ reason: 'outcome-invalid' });
    expect(services.count('/deposits')).toBe(1);
  });

  it('gets the newest head of its log from the device, also after a restart of the device', async () => {
    const services = await startServices();
    const store = memoryStore();
    const first = await connectTo(services, { identity: store });
    await first.model();
    await first.close();
    const newest = toHex(headCodec.encode(services.world.authority.core.head()));
    const before = services.asked.length;
    await startClient(services, { identity: store });
    const [about] = services.asked.slice(before);
    expect(about?.headers[HEADER.head]).toBe(newest);
  });

  it('that was rolled back notices it by this head, and gives up everything that is open', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const { authority } = services.world;
    const contribution = accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
    authority.log = authority.log.slice(0, -1); // the key it issued
    authority.witness = undefined;
    const { core } = authority;
    authority.restart();
    expect(authority.core).not.toBe(core);
    expect(await client.outcome(contribution)).toBe('unknown');
    expect(await client.contribute(deltaOf(1), { trainedOn: 0 })).toMatchObject({ reason: 'delta-committed' });
  });
});

/** As the only authority would. */
function signedBy<T>(signer: Signer, codec: EndorsedCodec<T>, body: T): T & Endorsed {
  return { ...body, endorsements: [{ authority: 0, signature: signer.sign(codec.statement(body)) }] };
}
