/** Work that many ask for at once. */
import { expect, it } from 'vitest';
import { OneAtATime } from '../../src/tasks/one-at-a-time.ts';

it('is done once for all that ask before it begins, and once more for those that ask while it is done', async () => {
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
