/** The readings of the wait as data give the times of an earlier event simulation that shares no code with them, c = 0, N = 32, K = 10. */
import { expect, it } from 'vitest';
import { SYNCHRONISATION_READINGS, type SynchronisationReading } from '../src/lightsecagg/parameters.ts';
import { seededBytes } from './support.ts';

const [USERS, BUFFER, AGGREGATIONS] = [32, 10, 500];

/** Mean time of an aggregation, in units of the mean delay. */
function timePerAggregation({ waits, arrival, restart }: SynchronisationReading, survivors: number): number {
  const randomBytes = seededBytes(survivors);
  const delay = (): number => -Math.log((new Uint32Array(randomBytes(4).buffer)[0] as number) / 2 ** 32 + 2 ** -33);
  const finishes = new Map(Array.from({ length: USERS }, (_, user) => [user, delay()]));
  const door: number[] = [];
  let now = 0;
  const nextToFinish = (): number => {
    const [user, at] = [...finishes].reduce((first, other) => (other[1] < first[1] ? other : first));
    now = at;
    finishes.delete(user);
    return user;
  };
  const start = (user: number): unknown => finishes.set(user, now + delay());
  let buffered = 0;
  for (let n = 0; n < AGGREGATIONS; n++) {
    for (; buffered < BUFFER; buffered++) start(door.shift() ?? nextToFinish());
    buffered = 0;
    // Users that wait at the door are idle and answer at once; the others when their training ends.
    const answered = new Set(door);
    const idle: number[] = [];
    while (waits && answered.size < survivors) {
      const user = nextToFinish();
      answered.add(user);
      if (arrival === 'counted') buffered++;
      if (restart === 'at-once') start(user);
      else if (restart === 'after-the-wait') idle.push(user);
      else door.push(user);
    }
    for (const user of idle) start(user);
  }
  return now / AGGREGATIONS;
}

it.each([
  ['sequential', [1.06, 1.45, 1.65, 1.93, 2.28, 4.36]],
  ['barrier', [0.74, 1.13, 1.34, 1.6, 1.98, 4.05]],
  ['block', [0.5, 0.67, 0.77, 0.93, 1.17, 2.94]],
  ['background', [0.31, 0.31, 0.31, 0.31, 0.31, 0.31]],
] as const)('%s', (name, expected) => {
  for (const [n, survivors] of [17, 22, 24, 26, 28, 32].entries()) {
    const found = timePerAggregation(SYNCHRONISATION_READINGS[name], survivors);
    expect(found / (expected[n] as number), `U = ${survivors}`).toBeCloseTo(1, 1);
  }
});
