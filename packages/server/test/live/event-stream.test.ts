/** A listener that does not read costs no memory, and is cut off. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { LiveState } from '@basa/protocol/internal/http/live.ts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { streamEvents } from '../../src/live/event-stream.ts';
import { LiveTasks } from '../../src/live/live-tasks.ts';
import type { RunningTask } from '../../src/tasks/running-task.ts';
import { policy, task } from '../support/store-samples.ts';

class Listener extends EventEmitter {
  readonly written: string[] = [];
  writableNeedDrain = false;
  isCutOff = false;
  readonly socket = { destroy: () => this.#close() };

  writeHead(): void {}
  write(text: string): void {
    this.written.push(text);
  }
  end(after: () => void): void {
    after();
  }

  #close(): void {
    this.isCutOff = true;
    this.emit('close');
  }
}

let listener: Listener;
let round = 0;
beforeEach(() => {
  vi.useFakeTimers();
  listener = new Listener();
  streamEvents(listener as unknown as ServerResponse, {
    live: { onChange: () => () => {} } as unknown as LiveTasks,
    versions: async () => [],
    state: async () => ({ at: 0, startedAt: ++round }) as LiveState,
  });
});
afterEach(() => vi.useRealTimers());

it('a listener that reads gets every change and keep-alive messages until it disconnects', async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  expect(listener.isCutOff).toBe(false);
  expect(listener.written.length).toBeGreaterThan(25);
  expect(listener.written.filter((text) => text === ':\n\n').length).toBe(4);
});

it('a listener that does not read gets no more events, and is disconnected within half a minute', async () => {
  await vi.advanceTimersByTimeAsync(5_000);
  const before = listener.written.length;
  listener.writableNeedDrain = true;
  await vi.advanceTimersByTimeAsync(10_000);
  expect([listener.written.length, listener.isCutOff]).toEqual([before, false]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect([listener.written.length, listener.isCutOff]).toEqual([before, true]);
});

it('a listener that was slow for a moment gets the newest state afterwards', async () => {
  listener.writableNeedDrain = true;
  await vi.advanceTimersByTimeAsync(16_000);
  listener.writableNeedDrain = false;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(listener.isCutOff).toBe(false);
  expect(listener.written.at(-1)).toContain(`"startedAt":${round}`);
});

it('what the listeners of a task see is computed once between two changes', async () => {
  let looks = 0;
  const none = async () => [];
  const live = new LiveTasks({ shotGroups: none, openBatches: none, lastBatches: none } as never, () => 0);
  const read = { specification: {}, policy, mode: 'one-shot' };
  const admission = { look: async () => void looks++, view: {} };
  const running = { task, read, mode: {}, state: 'running', admission } as unknown as RunningTask;
  const states = await Promise.all([1, 2, 3].map(() => live.state(running, [])));
  expect([looks, states.map(({ state }) => state)]).toEqual([1, ['running', 'running', 'running']]);
  live.changed();
  await live.state(running, []);
  expect(looks).toBe(2);
});
