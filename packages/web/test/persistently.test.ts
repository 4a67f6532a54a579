/** A tab goes on after whatever fails for the moment, and ends with what no other try would mend. */
import { AnswerError, ProblemError, UnreachableError } from '@basa/client/web';
import { describe, expect, it } from 'vitest';
import type { FromDevice } from '../src/web/join/device-messages.ts';
import { Gate, persistently } from '../src/web/join/gate.ts';

const busy = new ProblemError({ code: 'overloaded', status: 503, title: 'busy; ask later', retryAfterMs: 60_000 });

/** Fails with these, one after the other, and succeeds then. */
async function trial(...failures: readonly Error[]) {
  const [gate, news, waits] = [new Gate(), [] as FromDevice[], [] as number[]];
  const left = [...failures];
  const work = async (): Promise<string> => {
    const failure = left.shift();
    if (failure !== undefined) throw failure;
    return 'done';
  };
  const sleep = async (ms: number): Promise<void> => void waits.push(ms);
  const result = await persistently({ gate, sleep, tell: (one) => news.push(one) }, work);
  return { result, news, waits };
}

describe('a tab', () => {
  it.each([
    ['nobody answers', new UnreachableError('the server', 'cut off'), 1000],
    ['somebody else answers', new AnswerError('the server', 'no numbers'), 1000],
    ['a service has no time, as long as it says', busy, 60_000],
    ['a service stops', new ProblemError({ code: 'stopping', status: 503, title: 'stopping' }), 1000],
    ['a proxy fails', new ProblemError({ code: 'unknown-problem', status: 502, title: 'bad gateway' }), 1000],
  ])('waits and tries again where %s', async (_, failure, waitMs) => {
    const { result, waits, news } = await trial(failure, failure);
    expect(result).toBe('done');
    expect(waits).toEqual([0, waitMs, waitMs]);
    expect(news).toEqual([0, 1].map(() => ({ kind: 'waiting', why: failure.message.split(';')[0] })));
  });

  it.each([
    new ProblemError({ code: 'enrolment-token-invalid', status: 403, title: 'no such token' }),
    new ProblemError({ code: 'unknown-problem', status: 404, title: 'not here' }),
    new TypeError('a fault of ours'),
  ])('ends with %o', async (failure) => {
    await expect(trial(failure)).rejects.toBe(failure);
  });

  it('that waits for a service rests and leaves at once when it is told to', async () => {
    const [gate, news] = [new Gate(), [] as FromDevice[]];
    const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
      ms === 0
        ? Promise.resolve()
        : new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
            queueMicrotask(() => gate.leave());
          });
    const work = () => Promise.reject(busy);
    expect(await persistently({ gate, sleep, tell: (one) => news.push(one) }, work)).toBeUndefined();
    expect(news.map(({ kind }) => kind)).toEqual(['waiting', 'paused']);
  });
});
