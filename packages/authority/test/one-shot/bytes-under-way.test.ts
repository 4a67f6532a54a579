/** The bytes of long requests of a task count until their answers are over and no work needs them. */
import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { TaskId } from '@basa/protocol';
import type { FastifyReply, FastifyRequest } from '@basa/service';
import { expect, it } from 'vitest';
import { BytesUnderWay } from '../../src/routes/shot-limits.ts';

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
