/** A server that lies: the real one behind a proxy that changes its words, signed with its own key if that helps. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BasaClient } from '@basa/client/node';
import type { ServiceProxy } from '@basa/conformance/service-proxy.ts';
import { type SlotLie, slotLies, tellingSlotLie } from '@basa/conformance/slot-lies.ts';
import { fromHex, type Signer } from '@basa/masking';
import { descriptorCodec, drawnBufferCodec, millis } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const BUFFER_SIZE = 4;
const LIES = slotLies(createNodeSigner(nodeRandomBytes(32)), BUFFER_SIZE).map(
  ({ name, reason }) => [name, reason] as const,
);
let services: TestServices;
let proxy: ServiceProxy;
let serverKey: Signer;
/** Takes slot 0, honestly. */
let first: { readonly ctx: string; readonly joinTag: string };
let firstClient: BasaClient;
let victim: BasaClient;

beforeAll(async () => {
  services = await TestServices.open({ policy: { bufferSize: BUFFER_SIZE } });
  serverKey = createNodeSigner(
    fromHex(readFileSync(join(services.folder, 'server', 'server.key'), 'utf8').trim()) as Uint8Array,
  );
});
afterAll(() => services.close());
beforeEach(async () => {
  await services.createTask();
  proxy = await services.proxy();
  firstClient = await services.client('first', { server: proxy.url });
  const contribution = await firstClient.contribute(oneHot(0), { trainedOn: 0 });
  if (contribution.kind !== 'accepted') throw new Error(contribution.reason);
  first = contribution;
  victim = await services.client('victim', { server: proxy.url });
});

describe('an update stays on the device, and nothing of it is uploaded, if the server', () => {
  it.each(LIES)('%s', async (name, reason) => {
    const lie = slotLies(serverKey, BUFFER_SIZE).find((one) => one.name === name) as SlotLie;
    proxy.onAnswer = tellingSlotLie(lie, BUFFER_SIZE);
    expect(await victim.contribute(oneHot(1), { trainedOn: 0 })).toMatchObject({ reason, update: 'free' });
    expect(victim.isInterrupted).toBe(false);
    const uploads = proxy.passed.filter(({ asked }) => asked.method === 'PUT');
    expect(uploads.map(({ asked }) => asked.path)).toEqual([`/v1/buffers/${first.ctx}/slots/0/upload`]);
    const { slots } = await services.bufferState(first.ctx);
    expect(slots.map(({ status }) => status)).toEqual(['accepted', 'assigned']);
  });

  it('makes up a descriptor', async () => {
    proxy.onAnswer = (asked, answer) => {
      if (!asked.path.endsWith('/seats')) return answer;
      const { descriptor, slotKeys } = drawnBufferCodec.decode(answer.body);
      const other = { ...descriptor, expiry: millis(descriptor.expiry + 1) };
      const signed = { ...other, signature: serverKey.sign(descriptorCodec.statement(other)) };
      return { ...answer, body: drawnBufferCodec.encode({ descriptor: signed, slotKeys }) };
    };
    const no = await victim.contribute(oneHot(1), { trainedOn: 0 });
    expect(no).toMatchObject({ reason: 'descriptor-invalid', update: 'free' });
    expect(proxy.passed.filter(({ asked }) => asked.path.endsWith('/deposits'))).toHaveLength(1);
  });

  it('gives its own slot keys', async () => {
    proxy.onAnswer = (asked, answer) => {
      if (!asked.path.endsWith('/seats')) return answer;
      const { descriptor, slotKeys } = drawnBufferCodec.decode(answer.body);
      const own = slotKeys.slice();
      own.set(nodeSuite.x25519(nodeRandomBytes(32)).publicKey, 64);
      return { ...answer, body: drawnBufferCodec.encode({ descriptor, slotKeys: own }) };
    };
    const no = await victim.contribute(oneHot(1), { trainedOn: 0 });
    expect(no).toMatchObject({ reason: 'slot-keys-invalid', update: 'free' });
    expect(proxy.passed.filter(({ asked }) => asked.path.endsWith('/deposits'))).toHaveLength(1);
  });
});

it('a model that is not the one of the log is not trained on', async () => {
  proxy.onAnswer = (asked, answer) => {
    if (!/\/models\/0$/.test(asked.path)) return answer;
    return { ...answer, body: answer.body.map((byte, n) => (n === 3 ? byte ^ 1 : byte)) };
  };
  await expect(victim.model()).rejects.toMatchObject({ reason: 'model-not-logged' });
  proxy.behave();
  expect((await victim.model()).version).toBe(0);
});

it('the claim of the server that a buffer was aborted frees no update', async () => {
  proxy.onAnswer = (asked, answer) =>
    asked.path.includes('/fates/') ? { ...answer, body: Buffer.from('{"fate":"aborted"}') } : answer;
  expect(await firstClient.outcome(first)).toBe('undecided');
  const again = await firstClient.contribute(oneHot(0), { trainedOn: 0 });
  expect(again).toMatchObject({ reason: 'delta-committed', update: 'held' });
  expect(proxy.passed.filter(({ asked }) => asked.path.endsWith('/deposits'))).toHaveLength(1);
});
