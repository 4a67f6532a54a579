/** Nothing that an authority is shown depends on an update: with the same coins, two updates give the same header and the same parts. */
import type { BasaClient } from '@basa/client/node';
import { inMemoryStoreForTests } from '@basa/client/node';
import { applyMasksInPlace, toHex } from '@basa/masking';
import { HEADER, shotHeaderCodec, shotLayout, shotUploadCodec } from '@basa/protocol';
import { createNodeSigner } from '@basa/runtime/node';
import { THREE_OF_FOUR, World } from '@basa/testkit/world/world.ts';
import { nodeTools } from '@basa/virtual-time';
import { afterAll, beforeAll, expect, it } from 'vitest';

const { masks: tools } = nodeTools();
let world: World;
beforeAll(async () => {
  world = await World.open({ shape: THREE_OF_FOUR });
  world.elapse(1000);
});
afterAll(() => world.close());

let drawn = 0;
/** Bytes that are the same for every device, from its update on: before it, requests are sent at the same time. */
function coins(length: number): Uint8Array {
  return Uint8Array.from({ length }, () => (Math.imul(++drawn, 0x9e3779b1) >>> 24) & 255);
}

/** What authorities are shown of the upload, and y, which they are not shown. */
async function givenBy(delta: Float32Array): Promise<{ readonly shown: string; readonly masked: string }> {
  const taken: { upload: string; body: Uint8Array }[] = [];
  const { faults } = world.wire;
  faults.push(({ method, headers, body }) => {
    const upload = headers[HEADER.upload];
    if (method !== 'PUT' || upload === undefined) return undefined;
    taken.push({ upload, body: body ?? new Uint8Array() });
    return 'lost';
  });
  const store = inMemoryStoreForTests(createNodeSigner(new Uint8Array(32).fill(7)));
  const mask = (vector: Uint32Array, plan: Parameters<typeof applyMasksInPlace>[1]): void =>
    applyMasksInPlace(vector, plan, tools);
  const device: BasaClient = await world.device({ store, outside: { randomBytes: coins, mask } });
  const { version } = await device.model();
  drawn = 0;
  await device.contribute(delta, { trainedOn: version }).catch(() => undefined);
  faults.pop();
  const [{ upload, body }] = taken as [(typeof taken)[number]];
  const { header } = shotUploadCodec.decode(Buffer.from(upload, 'hex'));
  const { vectorBytes } = shotLayout(world.policy, header.epochs);
  return {
    shown: toHex(shotHeaderCodec.encode(header)) + toHex(body.subarray(vectorBytes)),
    masked: toHex(body.subarray(0, vectorBytes)),
  };
}

it('with the same coins, another update changes y and nothing that an authority sees', async () => {
  const [one, other] = [await givenBy(new Float32Array(8).fill(0.25)), await givenBy(new Float32Array(8).fill(-0.5))];
  expect(one.shown).toBe(other.shown);
  expect(one.masked).not.toBe(other.masked);
});
