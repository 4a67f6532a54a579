/** The work of an authority's tasks beside each other: turns, a bounded memory of good uploads, and bounded bytes of long requests. */
import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Ctx, JoinTag, TaskId, UserId } from '@basa/protocol';
import type { ExaminedUpload } from '@basa/protocol/internal/one-shot/parts.ts';
import type { FastifyReply, FastifyRequest } from '@basa/service';
import { describe, expect, it } from 'vitest';
import { ExaminedUploads, MaskThreads, Turns } from '../src/masks/mask-threads.ts';
import { BytesUnderWay } from '../src/routes/shot-limits.ts';

it('work of a task waits for its turn, not for all work of another task, also if some of it fails', async () => {
  const turns = new Turns();
  const order: string[] = [];
  let running = 0;
  const take = (task: string, n: number) =>
    turns.take(task, async () => {
      expect(++running).toBe(1);
      await new Promise(setImmediate);
      running--;
      order.push(`${task}${n}`);
      if (n === 2) throw new Error('refused');
      return n;
    });
  const works = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => take(name[0] as string, Number(name[1])));
  const settled = await Promise.allSettled(works);
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message))).toEqual([
    1,
    'refused',
    3,
    4,
    1,
    'refused',
    1,
  ]);
  expect(await take('a', 5)).toBe(5);
});

it('sums of a task wait for their turn, however many of another task were asked for before', async () => {
  const threads = new MaskThreads(0);
  const none = { request: new Uint8Array(), policy: new Uint8Array(), authority: 0, secrets: [], count: 0 };
  const order: string[] = [];
  const asked = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) =>
    threads.sum(new Uint8Array(32).fill(name.charCodeAt(0)) as TaskId, none, []).then(() => order.push(name)),
  );
  await Promise.all(asked);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
});

describe('the memory of good uploads', () => {
  const fill = (value: number): Uint8Array => new Uint8Array(32).fill(value);

  /** A view of a larger buffer, as a decoder gives it. */
  function examined(name: number, epoch: number, task = 0): ExaminedUpload {
    const user = new Uint8Array(100_000).subarray(7, 39) as UserId;
    const header = {
      task: fill(task) as TaskId,
      joinTag: fill(name).slice(16) as JoinTag,
      user,
      model: fill(0),
      epochs: [{ authority: 0, statement: fill(epoch) }],
      bodyHash: fill(0),
      partsHash: fill(0),
      signature: new Uint8Array(64),
    };
    return { kind: 'examined', name: fill(name) as Ctx, header, guards: [] };
  }

  const has = (uploads: ExaminedUploads, name: number, task = 0): boolean =>
    uploads.get(fill(task) as TaskId, fill(name) as Ctx) !== undefined;

  it('forgets the oldest upload of a task first, and an upload that was inspected again last', () => {
    const uploads = new ExaminedUploads();
    uploads.add(examined(9, 0, 1), 3); // of another task
    for (const name of [1, 2, 3, 1, 4]) uploads.add(examined(name, 0), 3);
    expect([1, 2, 3, 4].map((name) => has(uploads, name))).toEqual([true, false, true, true]);
    expect([has(uploads, 9, 1), has(uploads, 9, 0)]).toEqual([true, false]);
  });

  it('keeps no request alive by a header, and nothing of an epoch that has ended', () => {
    const uploads = new ExaminedUploads();
    for (const name of [1, 2, 3]) uploads.add(examined(name, name % 2), 3);
    expect(uploads.get(fill(0) as TaskId, fill(1) as Ctx)?.header.user.buffer.byteLength).toBeLessThan(1000);
    uploads.keepOnly((statement) => statement[0] === 0);
    expect([1, 2, 3].map((name) => has(uploads, name))).toEqual([false, true, false]);
  });
});

describe('the bytes of long requests', () => {
  const [task, other] = [1, 2].map((value) => new Uint8Array(32).fill(value)) as [TaskId, TaskId];

  function asked() {
    const raw = Object.assign(new EventEmitter(), { destroyed: false });
    return { request: {} as FastifyRequest, reply: { raw } as unknown as FastifyReply, raw };
  }

  function scene() {
    const underWay = new BytesUnderWay();
    const hold = (bytes: number, { request, reply } = asked(), of = task) =>
      underWay.hold(request, reply, { task: of, bytes, most: 10 });
    return { underWay, hold };
  }

  const problem = (code: string) => expect.objectContaining({ document: expect.objectContaining({ type: code }) });
  const overloaded = problem('urn:basa:problem:overloaded');

  it('one request always has room, and others of its task until the limit', async () => {
    const { hold } = scene();
    const long = asked();
    hold(11, long);
    expect(() => hold(1)).toThrow(overloaded);
    hold(11, asked(), other);
    long.raw.emit('close');
    await turn();
    hold(4);
    hold(6);
    expect(() => hold(1)).toThrow(overloaded);
  });

  it.each([Promise.resolve.bind(Promise), Promise.reject.bind(Promise)])(
    'a request whose sender is gone counts until the work on it has ended',
    async (end) => {
      const { underWay, hold } = scene();
      const gone = asked();
      hold(10, gone);
      let goOn = (): void => undefined;
      const paused = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      underWay.during(gone.request, paused.then(end)).catch(() => undefined);
      gone.raw.emit('close');
      await turn();
      expect(() => hold(1)).toThrow(overloaded);
      goOn();
      await turn();
      hold(10);
    },
  );

  it('a request whose sender is gone before it counts is ended', () => {
    const { hold } = scene();
    const gone = asked();
    gone.raw.destroyed = true;
    expect(() => hold(10, gone)).toThrow(problem('urn:basa:problem:interrupted'));
    hold(10);
  });
});
