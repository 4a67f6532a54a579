/** Work of different names, one after the other. */
import { expect, it } from 'vitest';
import { OneByOne } from '../../src/tasks/running-task.ts';

it('runs in order, waits only once under each name, and waits again once it has started', async () => {
  const queue = new OneByOne();
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    began.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const ask = (name: string) => queue.run(name, work(name));
  const turn = async (): Promise<void> => {
    ends.shift()?.();
    for (let n = 0; n < 5; n++) await Promise.resolve();
  };
  const first = ask('a');
  await turn();
  expect(began).toEqual(['a']);
  // While it runs, a hundred events ask for both.
  const asked = Array.from({ length: 100 }, () => [ask('a'), ask('b')]).flat();
  expect(new Set(asked).size).toBe(2);
  await turn();
  await first;
  expect(began).toEqual(['a', 'a']);
  await turn();
  expect(began).toEqual(['a', 'a', 'b']);
  await turn();
  await queue.settle();
  expect(began).toEqual(['a', 'a', 'b']);
});
