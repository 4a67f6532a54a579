/** The life of a task at the authority, over real HTTP: devices, batches, models, and requests that are repeated. */
import { fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  certificateCodec,
  decodePolicy,
  encodePolicy,
  headCodec,
  isEndorsed,
  isSigned,
  modelEntryCodec,
  newestModelCodec,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { afterEach, describe, expect, it } from 'vitest';
import { ask } from '../asking.ts';
import { cleanUp, type NewHome, OPERATOR, start, time } from '../homes.ts';
import { finalBatch, shotScene, shotStage } from '../one-shot/shot-world.ts';

export function testFlow(freshHome: NewHome): void {
  afterEach(cleanUp);

  it('a task, its devices, a batch, its model', async () => {
    const authority = await start(await freshHome());
    const scene = await shotScene(authority, 3);
    const { server, enrolled } = scene.world;
    for (const { certificate } of enrolled)
      expect(isEndorsed(nodeSuite, certificateCodec, server.policy, certificate)).toBe(true);
    const { ctx } = await finalBatch(authority, scene);
    const appended = await server.appendModel(authority, { version: 1, sums: [ctx] });
    expect(modelEntryCodec.decode(appended.bytes).version).toBe(1);
    for (const version of [1, 'newest']) {
      expect((await ask(authority, AUTHORITY_PATH.modelEntry(server.task, version))).bytes).toEqual(appended.bytes);
    }
    // A device asks with a nonce, and gets entry and head under one signature.
    const nonce = new Uint8Array(16).fill(9);
    const shown = await ask(authority, AUTHORITY_PATH.newestModel(server.task, nonce));
    const newest = newestModelCodec.decode(shown.bytes);
    expect(isSigned(nodeSuite, newestModelCodec, newest, authority.publicKey)).toBe(true);
    expect(modelEntryCodec.encode(newest.entry)).toEqual(appended.bytes);
    expect(newest.nonce).toEqual(nonce);
    const { signature: _, ...head } = headCodec.decode(fromHex(shown.head) ?? new Uint8Array());
    expect(newest.head).toEqual(head);
    const { tasks } = (await ask(authority, AUTHORITY_PATH.tasks, { token: OPERATOR })).json();
    expect(tasks).toEqual([{ task: toHex(server.task), name: 'test', version: 1, devices: 3 }]);
  });

  describe('a repeated request', () => {
    it('gets the same answer: task, model, vote, release', async () => {
      const authority = await start(await freshHome());
      const scene = await shotScene(authority, 2);
      const { world, uploads, epochs } = scene;
      const twice = async (request: () => Promise<{ status: number; bytes: Uint8Array }>) => {
        const [first, second] = [await request(), await request()];
        expect([first.status, second.status]).toEqual([200, 200]);
        expect(second.bytes).toEqual(first.bytes);
      };
      await twice(() => world.server.createTask(authority));
      await twice(() => world.server.appendModel(authority, { version: 0, sums: [] }));
      const { request, votes } = await finalBatch(authority, scene);
      await twice(() => world.vote(authority, request));
      const release = world.releaseRequest({ uploads, epochs, votes, wanted: [{ part: 0, vector: true }] });
      await twice(() => world.release(authority, release));
    });
  });

  it('anybody may read the policy, the public key and the head', async () => {
    const authority = await start(await freshHome());
    const { server } = await shotStage([authority], 0);
    const policy = await ask(authority, AUTHORITY_PATH.policy(server.task));
    expect(encodePolicy(decodePolicy(policy.bytes))).toEqual(encodePolicy(server.policy));
    const { publicKey, time: said, head } = (await ask(authority, AUTHORITY_PATH.about)).json();
    expect([publicKey, said]).toEqual([toHex(authority.publicKey), time.now]);
    const decoded = headCodec.decode(fromHex(head as string) as Uint8Array);
    expect(isSigned(nodeSuite, headCodec, decoded, authority.publicKey)).toBe(true);
    expect(decoded.sequence).toBe(2); // a task and a model
  });
}
