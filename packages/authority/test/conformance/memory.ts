/** Ended buffers are only in the log: they take no memory, and requests about them are still answered. */
import { AUTHORITY_PATH, drawnBufferCodec } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { afterEach, expect, it } from 'vitest';
import type { Authority } from '../../src/index.ts';
import { ask } from '../asking.ts';
import { cleanUp, type NewHome, start, stop, time } from '../homes.ts';
import { seated, stage, TestBuffer } from '../parties.ts';

type World = Awaited<ReturnType<typeof stage>>;

/** A buffer drawn for a nonce, keys for both devices, closed, and what was asked and answered meanwhile. */
async function closedBuffer(authority: Authority, { server, enrolled }: World) {
  const draw = server.drawRequest(nodeRandomBytes(16));
  const drawn = await ask(authority, AUTHORITY_PATH.buffers, { body: draw });
  const buffer = new TestBuffer(server, drawnBufferCodec.decode(drawn.bytes));
  for (const { device, certificate } of enrolled) buffer.seat(device, certificate);
  const requests = [buffer.keyRequest(0), buffer.keyRequest(1)];
  const keys = [await buffer.askKey(authority, 0, requests[0]), await buffer.askKey(authority, 1, requests[1])];
  const close = buffer.closeRequest([0, 1], keys);
  const closed = await buffer.close(authority, close);
  const answers = [drawn, ...keys, closed].map(({ bytes }) => bytes);
  const askAgain = async (now: Authority): Promise<readonly Uint8Array[]> =>
    [
      await ask(now, AUTHORITY_PATH.buffers, { body: draw }),
      await buffer.askKey(now, 0, requests[0]),
      await buffer.askKey(now, 1, requests[1]),
      await buffer.close(now, close),
    ].map(({ bytes }) => bytes);
  return { buffer, answers, askAgain };
}

export function testMemory(freshHome: NewHome): void {
  afterEach(cleanUp);

  it('ended buffers are not in memory, and each still gets the same answer', async () => {
    const home = await freshHome();
    const authority = await start(home);
    const world = await stage(authority, 2);
    const closed: Awaited<ReturnType<typeof closedBuffer>>[] = [];
    for (let version = 1; version <= 12; version++) {
      const one = await closedBuffer(authority, world);
      expect((await world.server.appendModel(authority, version, one.buffer.ctx)).status).toBe(200);
      closed.push(one);
    }
    expect(authority.buffersInMemory()).toBe(0);

    const check = async (now: Authority): Promise<void> => {
      for (const [n, { buffer, answers, askAgain }] of closed.entries()) {
        expect(await askAgain(now)).toEqual(answers);
        expect((await buffer.outcome(now)).accepted).toHaveLength(2);
        expect((await buffer.askKey(now, 0, buffer.otherKeyRequest(0))).code).toBe('slot-registered');
        expect((await world.server.appendModel(now, n + 1, buffer.ctx)).status).toBe(200);
        expect((await world.server.appendModel(now, n + 1, buffer.ctx, new Uint8Array(32))).code).toBe('other-model');
        expect((await world.server.appendModel(now, 13, buffer.ctx)).code).toBe('buffer-used');
      }
      expect(now.buffersInMemory()).toBe(0);
    };
    await check(authority);
    await stop(authority);
    await check(await start(home));
  });

  it('an aborted buffer takes no memory; a closed one without a model is remembered until its time of grace is over', async () => {
    const authority = await start(await freshHome(), { closedGraceMs: 5000 });
    const world = await stage(authority, 2);
    const open = await seated(authority, world);
    await open.askKey(authority, 0);
    const { buffer } = await closedBuffer(authority, world);
    expect(authority.buffersInMemory()).toBe(2);
    const began = time.now;
    try {
      time.now = open.descriptor.closeBy;
      await authority.tick();
      expect(authority.buffersInMemory()).toBe(1);
      expect((await open.outcome(authority)).status).toBe('aborted');
      expect((await open.askKey(authority, 1)).code).toBe('buffer-not-open');
      time.now = buffer.descriptor.closeBy + 5000;
      await authority.tick();
      expect(authority.buffersInMemory()).toBe(0);
      expect((await buffer.outcome(authority)).status).toBe('closed');
    } finally {
      time.now = began;
    }
  });
}
