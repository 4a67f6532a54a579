/** Work that many ask for at once. */
import { expect, it } from 'vitest';
import { OneAtATime } from '../../src/tasks/running-task.ts';

it('is done once for all callers before it starts, and once more for callers while it runs', async () => {
  let runs = 0;
  let end = (): void => undefined;
  const looks = new OneAtATime(() => {
    runs++;
    return new Promise((resolve) => {
      end = resolve;
    });
  });
  const first = looks.run();
  await Promise.resolve();
  await Promise.resolve();
  expect(runs).toBe(1);
  const [second, third] = [looks.run(), looks.run()];
  expect(second).toBe(third);
  end();
  await first;
  await Promise.resolve();
  expect(runs).toBe(2);
  end();
  await looks.settle();
  expect(runs).toBe(2);
});

it('starts immediately after a quiet time, and rests in proportion to its duration', async () => {
  const began: number[] = [];
  const looks = new OneAtATime(
    async () => {
      began.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
    { restShare: 3 },
  );
  const asked = performance.now();
  await looks.run();
  await Promise.all([looks.run(), looks.run()]);
  const [first = 0, second = 0] = began;
  expect(began.length).toBe(2);
  expect(first - asked).toBeLessThan(second - first);
  expect(second - first).toBeGreaterThanOrEqual(20 + 3 * 19);
});
