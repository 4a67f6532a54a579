/** The life of a task at the authority, over real HTTP: devices, batches, and requests that are repeated. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, certificateCodec, decodePolicy, encodePolicy, isEndorsed } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { afterEach, describe, expect, it } from 'vitest';
import { ask } from '../asking.ts';
import { cleanUp, type NewHome, OPERATOR, start, time } from '../homes.ts';
import { finalBatch, shotScene, shotStage } from '../one-shot/shot-world.ts';

export function testFlow(freshHome: NewHome): void {
  afterEach(cleanUp);

  it('a task, its devices, a batch', async () => {
    const authority = await start(await freshHome());
    const scene = await shotScene(authority, 3);
    const { server, enrolled } = scene.world;
    for (const { certificate } of enrolled)
      expect(isEndorsed(nodeSuite, certificateCodec, server.policy, certificate)).toBe(true);
    await finalBatch(authority, scene);
    const { tasks } = (await ask(authority, AUTHORITY_PATH.tasks, { token: OPERATOR })).json();
    expect(tasks).toEqual([{ task: toHex(server.task), name: 'test', devices: 3 }]);
  });

  describe('a repeated request', () => {
    it('gets the same answer: task, vote, release', async () => {
      const authority = await start(await freshHome());
      const scene = await shotScene(authority, 2);
      const { world, uploads, epochs } = scene;
      const twice = async (request: () => Promise<{ status: number; bytes: Uint8Array }>) => {
        const [first, second] = [await request(), await request()];
        expect([first.status, second.status]).toEqual([200, 200]);
        expect(second.bytes).toEqual(first.bytes);
      };
      await twice(() => world.server.createTask(authority));
      const { request, votes } = await finalBatch(authority, scene);
      await twice(() => world.vote(authority, request));
      const release = world.releaseRequest({ uploads, epochs, votes, wanted: [{ part: 0, vector: true }] });
      await twice(() => world.release(authority, release));
    });
  });

  it('anybody may read the policy and the public key', async () => {
    const authority = await start(await freshHome());
    const { server } = await shotStage([authority], 0);
    const policy = await ask(authority, AUTHORITY_PATH.policy(server.task));
    expect(encodePolicy(decodePolicy(policy.bytes))).toEqual(encodePolicy(server.policy));
    const { publicKey, time: said } = (await ask(authority, AUTHORITY_PATH.about)).json();
    expect([publicKey, said]).toEqual([toHex(authority.publicKey), time.now]);
  });
}
