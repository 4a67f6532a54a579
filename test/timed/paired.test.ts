/** Protocols are compared in pairs: the same seed is the same users with the same delays, trip by trip. */
import { OneShotScheme, PlainScheme, type Scheme, Timeline, type Trip } from '@basa/simulator';
import { expect, it } from 'vitest';
import { fleetOf, oneShotCosts } from './fleet.ts';

const ONE_SHOT = oneShotCosts({ device: 0.08, intake: 0.005, inspect: 0.001, release: 0.01, open: 0.05 });
const TRIPS = 3000;

function usersOf(make: (timeline: Timeline) => Scheme): readonly number[] {
  const admission = { places: 40 };
  // A third of the users is busy at any time, as on CIFAR-10: redraws are frequent.
  const timeline = new Timeline(fleetOf(1, { users: 100, admission }));
  const users: number[] = [];
  const note = ({ number, user }: Trip): void => {
    users[number] = user;
  };
  for (const event of timeline.run(make(timeline))) {
    if (event.kind === 'departed') note(event.trip);
    if (timeline.trips >= TRIPS) break;
  }
  return users;
}

it('a trip has the same user with and without secure aggregation, unless that user is busy', () => {
  const plain = usersOf((timeline) => new PlainScheme(timeline, { addSeconds: 0.005 }));
  const secure = usersOf((timeline) => new OneShotScheme(timeline, ONE_SHOT));
  const same = plain.slice(0, TRIPS - 50).filter((user, trip) => user === secure[trip]).length;
  expect(same / TRIPS).toBeGreaterThan(0.6);
});
