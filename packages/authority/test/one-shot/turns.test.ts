/** One work at a time, and tasks take turns. */
import { expect, it } from 'vitest';
import { Turns } from '../../src/masks/mask-threads.ts';

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
