/** Users that connect at a constant rate with a maximum at a time, as in the paper's appendix. */
import { PlainScheme, type TimedEvent, Timeline } from '@basa/simulator';
import { expect, it } from 'vitest';
import { fleetOf } from './fleet.ts';

const FREE = { addSeconds: 0 };

function runFor(seconds: number, perSecond: number, concurrency: number) {
  const arrivals = { kind: 'constant', perSecond } as const;
  const timeline = new Timeline(fleetOf(0, { arrivals, concurrency, delay: { kind: 'none' } }));
  const departed: number[] = [];
  let [training, most] = [0, 0];
  const see = (event: TimedEvent): void => {
    if (event.kind === 'departed') departed.push(event.time);
    if (event.kind === 'departed') training++;
    if (event.kind === 'ended') training--;
    most = Math.max(most, training);
  };
  for (const event of timeline.run(new PlainScheme(timeline, FREE), seconds)) see(event);
  return { departed, most, turnedAway: timeline.turnedAway };
}

it('one comes exactly once per interval', () => {
  const { departed, turnedAway } = runFor(10, 4, 32);
  expect(departed).toHaveLength(40);
  departed.forEach((time, n) => {
    expect(time).toBeCloseTo((n + 1) / 4, 9);
  });
  expect(turnedAway).toBe(0);
});

it('a user who comes while the maximum trains is turned away and does not wait', () => {
  // Trips of a second, eight connections a second, two at a time.
  const { departed, most, turnedAway } = runFor(10, 8, 2);
  expect(most).toBe(2);
  expect(departed.length + turnedAway).toBe(80);
  expect(departed.length).toBeGreaterThanOrEqual(18);
  expect(departed.length).toBeLessThanOrEqual(20);
});
