/** An update leaves at a time that does not depend on the length of its training. */
import type { TaskId } from '@basa/protocol';
import { ONE_SHOT_DEFAULTS, type TaskPolicy } from '@basa/protocol/policy';
import { describe, expect, it } from 'vitest';
import { Models } from '../src/session/models.ts';
import { deltaOf } from './support/connect.ts';
import { startClient, startServices } from './support/setup.ts';

describe('the wait of an update', () => {
  const waiting = (departMs: number) => {
    const clock = { at: 0 };
    const outside = { suite: {}, now: () => 0, stopwatch: () => clock.at };
    const policy = { oneShot: { ...ONE_SHOT_DEFAULTS, departMs } } as TaskPolicy;
    const models = new Models({ outside, server: {}, policy, task: new Uint8Array(32) as TaskId } as never);
    clock.at = 250;
    models.took(3);
    return (trainedMs: number) => {
      clock.at = 250 + trainedMs;
      return models.waitMs(3);
    };
  };

  it('ends at the next multiple after the download', () => {
    const wait = waiting(1000);
    expect([1, 260, 999, 1000, 1350].map(wait)).toEqual([999, 740, 1, 0, 650]);
  });

  it('is none without departMs', () => {
    expect([1, 260].map(waiting(0))).toEqual([0, 0]);
  });
});

it('no request leaves between a training and the departure', async () => {
  const services = await startServices({ policy: { oneShot: { ...ONE_SHOT_DEFAULTS, departMs: 3_600_000 } } });
  const client = await startClient(services);
  await client.model();
  const before = services.asked.length;
  const stop = new AbortController();
  const offered = client.contribute(deltaOf(0), { trainedOn: 0, signal: stop.signal });
  const end = await Promise.race([offered, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))]);
  expect([end, services.asked.length]).toEqual(['waits', before]);
  stop.abort(new Error('enough'));
  await expect(offered).rejects.toThrow('enough');
});
