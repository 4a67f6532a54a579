/** The delay with a heavy tail: its least value, its median, and how much of it lies far out. */
import { randomStream } from '@basa/learning';
import { expect, it } from 'vitest';
import { drawDelay } from '../../src/timed/delay.ts';

it('pareto: nothing below the least value, and the shares beyond a value that its shape says', () => {
  const [least, shape, count] = [1, 1.2, 20_000];
  const stream = randomStream(1, 'delays');
  const drawn = Array.from({ length: count }, () => drawDelay({ kind: 'pareto', least, shape }, stream, 1));
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(least);
  for (const value of [2, 10, 100]) {
    const share = drawn.filter((seconds) => seconds > value).length / count;
    expect(share).toBeCloseTo(value ** -shape, 2);
  }
});
