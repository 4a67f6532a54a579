/** Admission in virtual time: the number of places decides the age of updates, for every fleet it may meet. */
import { type Fleet, type OneShotCosts, OneShotScheme, Timeline } from '@basa/simulator';
import { describe, expect, it } from 'vitest';
import { fleetOf, oneShotCosts } from './fleet.ts';

const COSTS = oneShotCosts({ device: 0.1, intake: 0.002, inspect: 0.005, release: 0.02, open: 0.05 });
const ONE = { versions: 'one', minimum: 8, admission: { places: 30, minimum: 8 } } as const;

interface Course {
  /** Mean ages after a warm-up of 100 versions. */
  readonly meanAge: number;
  readonly versionsPerSecond: number;
  readonly meanSize: number;
}

function courseOf(changes: Partial<Fleet>, costs: Partial<OneShotCosts> = {}, versions = 250): Course {
  const fleet = fleetOf(3, { users: 100_000, concurrency: 200, ...ONE, ...changes });
  const timeline = new Timeline(fleet);
  const ages: number[] = [];
  let [updates, end] = [0, 0];
  for (const event of timeline.run(new OneShotScheme(timeline, { ...COSTS, ...costs }))) {
    if (event.kind !== 'version') continue;
    ages.push(event.meanAge);
    updates += event.included.length;
    end = event.time;
    if (ages.length === versions) break;
  }
  const late = ages.slice(100);
  const meanAge = late.reduce((sum, age) => sum + age, 0) / late.length;
  return { meanAge, versionsPerSecond: versions / end, meanSize: updates / versions };
}

describe('the number of places', () => {
  it.each<[string, Partial<Fleet>, Partial<OneShotCosts>]>([
    ['200 devices', {}, {}],
    ['2000 devices', { concurrency: 2000 }, {}],
    ['slow devices', { computeSeconds: () => 60, delay: { kind: 'exponential', mean: 60 } }, {}],
    ['fast devices', { computeSeconds: () => 0.1, delay: { kind: 'none' } }, {}],
    ['devices that come at intervals', { arrivals: { kind: 'constant', perSecond: 20 }, concurrency: 2000 }, {}],
    ['a slow opener', {}, { openSeconds: () => 2 }],
    ['a tenth of drop-outs', { dropouts: 0.1 }, {}],
  ])('keeps the mean age near 2 with three times K: %s', (_, fleet, costs) => {
    const { meanAge } = courseOf(fleet, costs);
    expect(meanAge).toBeGreaterThan(1);
    expect(meanAge).toBeLessThan(3.3);
  });

  it('keeps it there with heavy tails, whose last devices come after their version is over', () => {
    const { meanAge } = courseOf({ delay: { kind: 'lognormal', median: 3, sigma: 1.5 } });
    expect(meanAge).toBeGreaterThan(1);
    expect(meanAge).toBeLessThan(3.5);
  });

  it.each([12, 14, 20, 40])("of %i gives about the age of Little's law, places / K - 1", (places) => {
    const { meanAge } = courseOf({ admission: { places, minimum: 8 } });
    expect(Math.abs(meanAge - (places / 10 - 1))).toBeLessThan(0.6);
  });

  it('without admission, 200 devices have the age of 200 places', () => {
    const { users, ...open } = fleetOf(3, { users: 100_000, concurrency: 200 });
    const timeline = new Timeline({ ...open, users });
    const ages: number[] = [];
    for (const event of timeline.run(new OneShotScheme(timeline, COSTS))) {
      if (event.kind === 'version') ages.push(event.meanAge);
      if (ages.length === 400) break;
    }
    expect(ages.slice(100).reduce((sum, age) => sum + age, 0) / 300).toBeGreaterThan(15);
  });
});

describe('a tiny fleet', () => {
  it('of 9 at K = 10 and Kmin = 8 closes buffers of 9 as soon as nobody is under way, and makes versions', () => {
    const { meanAge, meanSize, versionsPerSecond } = courseOf({ users: 9, concurrency: 9 }, {}, 150);
    expect(meanAge).toBe(0);
    expect(meanSize).toBe(9);
    expect(versionsPerSecond).toBeGreaterThan(0.05);
  });

  it('of 7 never closes one: fewer than Kmin devices cannot', () => {
    const timeline = new Timeline(fleetOf(3, { users: 7, concurrency: 7, ...ONE }));
    let versions = 0;
    for (const { kind } of timeline.run(new OneShotScheme(timeline, COSTS), 1000)) if (kind === 'version') versions++;
    expect(versions).toBe(0);
  });

  it('of 12 fills one buffer after the other', () => {
    const { meanAge, meanSize } = courseOf({ users: 12, concurrency: 12 }, {}, 150);
    expect(meanAge).toBeLessThan(0.4);
    expect(meanSize).toBeGreaterThan(9.5);
  });
});

describe('buffers that wait to be opened', () => {
  it('limit admission: at two of them no device starts', () => {
    const changes = { users: 100_000, concurrency: 2000, ...ONE };
    const timeline = new Timeline(fleetOf(3, changes));
    const slow: OneShotCosts = { ...COSTS, openSeconds: () => 5 };
    const waitingAtDeparture = new Set<number>();
    let maxWaiting = 0;
    for (const { kind } of timeline.run(new OneShotScheme(timeline, slow), 500)) {
      const waiting = timeline.gate?.waitingSums ?? 0;
      maxWaiting = Math.max(maxWaiting, waiting);
      if (kind === 'departed') waitingAtDeparture.add(waiting);
    }
    expect(maxWaiting).toBeGreaterThanOrEqual(2); // by those that were under way
    expect([...waitingAtDeparture].sort()).toEqual([0, 1]);
  });
});
