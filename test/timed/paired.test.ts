/** Protocols are compared in pairs: the same seed is the same users with the same delays, trip by trip. */
import { PlainScheme, type Scheme, SealedScheme, Timeline, type Trip } from '@basa/simulator';
import { expect, it } from 'vitest';
import { fleetOf, sealedCosts } from './fleet.ts';

const SEALED = sealedCosts({
  deposit: 0.03,
  server: 0.002,
  body: 0.003,
  key: 0.001,
  mask: 0.05,
  close: 0.01,
  open: 0.05,
});
const TRIPS = 3000;

function usersOf(make: (timeline: Timeline) => Scheme): readonly number[] {
  const admission = { bufferSize: 10, places: 'auto', targetAge: 3, maxWaitingBuffers: 2 } as const;
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
  const plain = usersOf((timeline) => new PlainScheme(timeline, { uploadBytes: 0, addSeconds: 0.005 }));
  const sealed = usersOf((timeline) => new SealedScheme(timeline, SEALED));
  const same = plain.slice(0, TRIPS - 50).filter((user, trip) => user === sealed[trip]).length;
  expect(same / TRIPS).toBeGreaterThan(0.6);
});
