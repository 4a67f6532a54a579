import {
  banned,
  cleared,
  type EnteredBuffer,
  type FleetTrust,
  judgeStandings,
  maySit,
  NEW_STANDING,
  type Standing,
  standingAt,
} from '@basa/protocol';
import { simulateSuspicion } from '@basa/testkit/core/suspicion-fleet.ts';
import { describe, expect, it } from 'vitest';

const SCENE = { sum: 1, minimum: 2, devices: 10, suspended: 0 };

function fleet(suspicions: Readonly<Record<string, number>>, more: Partial<Standing> = {}) {
  return (user: string): Standing => ({
    ...NEW_STANDING,
    suspicion: suspicions[user] ?? NEW_STANDING.suspicion,
    ...(user === 'u' && more),
  });
}
const spoilt = (users: readonly string[], named: readonly string[] = []) =>
  ({ users, named, outcome: 'spoilt' }) as const;
const clean = (users: readonly string[]) => ({ users, named: [], outcome: 'clean' }) as const;

describe('the suspicion of a device', () => {
  it('rises with a spoilt sum by the rule of Bayes, less if the others explain it', () => {
    const after = judgeStandings(fleet({}), spoilt(['u', 'a', 'b', 'c']), SCENE);
    const others = 1 - 0.99 ** 3;
    expect(after.get('u')?.suspicion).toBeCloseTo(0.01 / (0.01 + 0.99 * others), 12);
    const beside = judgeStandings(fleet({ a: 0.9 }), spoilt(['u', 'a', 'b', 'c']), SCENE);
    expect(beside.get('u')?.suspicion).toBeCloseTo(0.01 / (0.01 + 0.99 * (1 - 0.1 * 0.99 ** 2)), 12);
    expect(beside.get('a')?.suspicion).toBeGreaterThan(0.99);
  });

  it('halves its odds with a clean sum', () => {
    const after = judgeStandings(fleet({ u: 0.5 }), clean(['u', 'a']), SCENE).get('u');
    expect(after?.suspicion).toBeCloseTo(1 / 3, 12);
  });

  it('stays away from 0 and 1 after any number of sums, so that devices can always be distinguished', () => {
    let low: Standing = NEW_STANDING;
    let high: Standing = NEW_STANDING;
    for (let n = 0; n < 100; n++) {
      low = judgeStandings(() => low, clean(['u']), SCENE).get('u') as Standing;
      high = judgeStandings(() => high, spoilt(['u']), { ...SCENE, devices: 2 }).get('u') as Standing;
    }
    expect([low.suspicion, high.suspicion]).toEqual([1e-4, 0.999]);
  });

  it('of devices outside the sum does not change', () => {
    expect([...judgeStandings(fleet({}), spoilt(['u', 'a']), SCENE).keys()]).toEqual(['u', 'a']);
  });
});

describe('a suspension', () => {
  const sure = fleet({ u: 0.94, a: 1e-4, b: 1e-4, c: 1e-4 }, { spoilt: 3 });
  const users = ['u', 'a', 'b', 'c'];

  it('lasts for 50 sums, and twice as long each time', () => {
    expect(judgeStandings(sure, spoilt(users), SCENE).get('u')).toMatchObject({ suspendedUntil: 51, suspensions: 1 });
    const again = fleet({ u: 0.94 }, { spoilt: 3, suspensions: 2 });
    expect(judgeStandings(again, spoilt(users), SCENE).get('u')).toMatchObject({ suspendedUntil: 201, suspensions: 3 });
  });

  it('comes exactly at a suspicion of 0.95', () => {
    const others = ['a', 'b', 'c', 'd', 'e', 'f'];
    const strong = Object.fromEntries(others.map((user) => [user, 0.999]));
    const judged = (suspicion: number) =>
      judgeStandings(fleet({ u: suspicion, ...strong }, { spoilt: 3 }), spoilt(['u', ...others]), SCENE).get('u');
    expect(judged(0.95)).toMatchObject({ suspicion: 0.95, suspendedUntil: 51 });
    expect(judged(0.9499)?.suspendedUntil).toBeUndefined();
  });

  it('leaves a strong suspect when it is over', () => {
    const out: Standing = { suspicion: 0.999, spoilt: 2, suspensions: 1, suspendedUntil: 51 };
    expect(standingAt(out, 50)).toEqual(out);
    expect(standingAt(out, 51)).toEqual({ suspicion: 0.6, spoilt: 2, suspensions: 1 });
  });

  it('comes with the fourth spoilt sum at the earliest, so that a trusted device cannot lock newcomers out', () => {
    const good = { suspicion: 1e-4, spoilt: 0, suspensions: 0 };
    let newcomer: Standing = NEW_STANDING;
    for (const isOut of [false, false, false, true]) {
      const standingOf = (user: string): Standing => (user === 'u' ? newcomer : good);
      newcomer = judgeStandings(standingOf, spoilt(users), SCENE).get('u') as Standing;
      expect(newcomer.suspicion).toBeGreaterThan(0.95);
      expect(newcomer.suspendedUntil !== undefined).toBe(isOut);
    }
  });

  it('leaves at least Kmin + 1 devices', () => {
    const suspended = (devices: number) =>
      judgeStandings(sure, spoilt(users), { ...SCENE, minimum: 4, devices }).get('u')?.suspendedUntil !== undefined;
    expect([suspended(5), suspended(6)]).toEqual([false, true]);
  });

  it('is for one device, or for a tenth of all, at a time', () => {
    const isOut = (devices: number, suspended: number): boolean =>
      judgeStandings(sure, spoilt(users), { ...SCENE, devices, suspended }).get('u')?.suspendedUntil !== undefined;
    expect([isOut(9, 0), isOut(9, 1), isOut(18, 1), isOut(19, 1)]).toEqual([true, false, false, true]);
  });

  it('is not extended by sums that were open when it began', () => {
    const out = fleet({ u: 0.99 }, { spoilt: 2, suspensions: 1, suspendedUntil: 40 });
    expect(judgeStandings(out, spoilt(users), SCENE).get('u')).toMatchObject({ suspendedUntil: 40, suspensions: 1 });
  });

  it('of a named cheat comes immediately, and no other device is suspected for that sum', () => {
    const after = judgeStandings(fleet({}), spoilt(users, ['u']), { ...SCENE, devices: 4, minimum: 4, suspended: 9 });
    expect(after.get('u')).toMatchObject({ suspendedUntil: 51, suspicion: 0.999 });
    expect(after.get('a')).toEqual(NEW_STANDING);
  });

  it('can be lifted by an operator, like all suspicion and bans', () => {
    const out: Standing = { suspicion: 0.999, spoilt: 4, suspensions: 3, suspendedUntil: 500 };
    expect(cleared(banned(out))).toEqual({ ...NEW_STANDING, suspensions: 3 });
    expect(banned(out)).toEqual({ ...out, isBanned: true });
  });
});

describe('a seat', () => {
  const TRUST: FleetTrust = { trusted: 8, mild: 8 };
  const entered = (change: Partial<EnteredBuffer> = {}): EnteredBuffer => ({
    ctx: Uint8Array.of(1),
    minimum: 4,
    taken: 2,
    suspects: 0,
    strong: 0,
    isLate: false,
    ...change,
  });
  const FIFTH = Uint8Array.of(5);

  it('is free for every device that is not suspected', () => {
    expect(maySit(0.09, entered({ suspects: 3, strong: 3 }), { trusted: 0, mild: 0 })).toBe(true);
  });

  it('beside a suspect is not for another one', () => {
    expect([maySit(0.1, entered(), TRUST), maySit(0.1, entered({ suspects: 1 }), TRUST)]).toEqual([true, false]);
  });

  it('is for a strong suspect in one buffer of five', () => {
    expect([maySit(0.5, entered(), TRUST), maySit(0.5, entered({ ctx: FIFTH }), TRUST)]).toEqual([false, true]);
    const justEnough = { trusted: 4, mild: 4 };
    expect(maySit(0.5, entered({ ctx: FIFTH }), justEnough)).toBe(true);
  });

  it('takes suspects if trusted devices are too few, up to the minimum and not beyond', () => {
    const trust = { trusted: 2, mild: 4 };
    const may = (suspects: number): boolean => maySit(0.2, entered({ suspects, taken: 4 }), trust);
    expect([may(0), may(1), may(2)]).toEqual([true, true, false]);
  });

  it('takes strong suspects in every buffer only if mild suspects are too few as well', () => {
    const few = { trusted: 2, mild: 3 };
    expect(maySit(0.9, entered(), { trusted: 2, mild: 4 })).toBe(false);
    expect([maySit(0.9, entered(), few), maySit(0.9, entered({ suspects: 1, strong: 1 }), few)]).toEqual([true, false]);
  });

  it('is for suspects up to the minimum in a buffer that waited long', () => {
    const late = entered({ suspects: 1, strong: 1, isLate: true });
    expect([maySit(0.9, late, TRUST), maySit(0.9, { ...late, isLate: false }, TRUST)]).toEqual([true, false]);
    expect(maySit(0.9, { ...late, taken: 4, suspects: 2, strong: 2 }, TRUST)).toBe(false);
  });
});

describe('a fleet under the rule', () => {
  const SMALL = { devices: 10, liars: 1, bufferSize: 4, minimum: 2, buffers: 1000 };
  const SEEDS = [1, 2, 3, 4, 5];
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

  it('with one liar of ten loses less than 2 % of its sums, suspends the liar and nobody else', () => {
    const reports = SEEDS.map((seed) => simulateSuspicion({ ...SMALL, seed }));
    expect(reports.map(({ suspendedHonest, suspendedLiars }) => [suspendedHonest, suspendedLiars])).toEqual(
      SEEDS.map(() => [0, 1]),
    );
    expect(Math.max(...reports.map(({ spoilt: lost }) => lost))).toBeLessThan(20);
    const without = SEEDS.map((seed) => simulateSuspicion({ ...SMALL, seed, isWithoutRule: true }).spoilt);
    expect(mean(without)).toBeGreaterThan(150);
  });

  it('is never stuck, even if it is small', () => {
    for (const seed of SEEDS)
      simulateSuspicion({ devices: 10, liars: 2, bufferSize: 10, minimum: 8, buffers: 300, seed });
  });

  it('without a liar suspects nobody for long', () => {
    const report = simulateSuspicion({ ...SMALL, liars: 0, seed: 1 });
    expect(report).toMatchObject({ spoilt: 0, suspendedHonest: 0 });
  });

  it('loses at most a tenth of its devices, and few sums, to liars that know every suspicion and lie to turn it on others', () => {
    const framing = { ...SMALL, devices: 12, liars: 2, buffers: 500 };
    const reports = SEEDS.map((seed) =>
      simulateSuspicion({
        ...framing,
        seed,
        // Only with a good name of their own, and beside somebody who is suspected, or now and then to make one.
        lies: ({ users, standingOf, chance }) =>
          users.filter((user) => user < 2).every((user) => standingOf(user).suspicion < 0.05) &&
          (users.some((user) => user >= 2 && standingOf(user).suspicion >= 0.1) || chance.unit() < 0.02),
      }),
    );
    expect(Math.max(...reports.map(({ honestTimeLost }) => honestTimeLost))).toBeLessThanOrEqual(0.1);
    expect(mean(reports.map(({ spoilt: lost }) => lost))).toBeLessThan(100);
  });
});
