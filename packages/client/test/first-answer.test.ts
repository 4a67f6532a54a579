import { expect, it } from 'vitest';
import { firstAnswer } from '../src/services/first-answer.ts';

const never = new AbortController().signal;

it('comes from the first service, and no other service is asked', async () => {
  const asked: number[] = [];
  const answer = await firstAnswer([1, 2], never, async (one) => asked.push(one));
  expect([answer, asked]).toEqual([{ asked: 1, answer: 1 }, [1]]);
});

it('comes from the next service if the previous one fails, and from a third if the second is silent', async () => {
  const ended: unknown[] = [];
  const answer = await firstAnswer(
    ['fails', 'silent', 'answers'],
    never,
    async (one, signal) => {
      if (one === 'fails') throw new Error('down');
      if (one === 'silent')
        await new Promise((resolve) => signal.addEventListener('abort', () => resolve(ended.push(one))));
      return `${one} well`;
    },
    20,
  );
  expect(answer).toEqual({ asked: 'answers', answer: 'answers well' });
  expect(ended).toEqual(['silent']);
});

it('waits for a late service if all others failed', async () => {
  const late = firstAnswer(
    [0, 1],
    never,
    async (one) => {
      if (one === 1) throw new Error('down');
      await new Promise((resolve) => setTimeout(resolve, 60));
      return 'late';
    },
    20,
  );
  expect(await late).toEqual({ asked: 0, answer: 'late' });
});

it('fails with the first error if no service answers, and ends with the signal', async () => {
  const failing = (one: number): Promise<never> => Promise.reject(new Error(`down ${one}`));
  await expect(firstAnswer([1, 2], never, failing)).rejects.toThrow('down 1');
  const stop = new AbortController();
  const waiting = firstAnswer(
    [1],
    stop.signal,
    (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  );
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});
