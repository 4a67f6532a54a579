/** Simulated statistics: sums are exact without noise, and error bars hold what they promise. */
import { statisticsPolicy } from '@basa/client/operator';
import type { StatisticsPolicy } from '@basa/protocol/internal/wire/statistics.ts';
import { defineFields } from '@basa/protocol/policy';
import { type SimulatedWindow, type StatisticsOptions, simulateStatistics } from '@basa/simulator/virtual-time';
import { describe, expect, it } from 'vitest';

const FIELDS = defineFields({
  screenMs: { low: 0, high: 100, step: 10 },
  load: { edges: [0, 1, 2] },
  country: { choices: ['at'] },
});
const REPORTS = Array.from({ length: 7 }, (_, n) => ({
  screenMs: 10 * n,
  load: n / 3,
  country: n % 2 === 0 ? 'at' : 'other',
}));
function policyOf(unsafeExact: boolean, authorities: 1 | 4): StatisticsOptions['policy'] {
  const keys = Array.from({ length: authorities }, (_, n) => new Uint8Array(32).fill(n + 1));
  const settings = { name: 'simulated', fields: FIELDS, windowMs: 60_000, bufferSize: 5, minimum: 3, unsafeExact };
  const { statistics, ...policy } = statisticsPolicy(settings, { serverKey: new Uint8Array(32), authorities: keys });
  return { ...policy, statistics: statistics as StatisticsPolicy };
}

function run(
  policy: ReturnType<typeof policyOf>,
  devices: number,
  windows: number,
): Promise<readonly SimulatedWindow[]> {
  const { signal } = new AbortController();
  return simulateStatistics({ policy, reports: REPORTS, devices, windows, seed: 1, signal, onWindow: () => {} });
}

/** The true values, by hand. */
const truthsOf = ({ reports }: SimulatedWindow): readonly (readonly number[])[] => {
  const count = (holds: (report: (typeof REPORTS)[number]) => boolean): number =>
    reports.filter((report) => holds(report as (typeof REPORTS)[number])).length;
  return [
    [reports.reduce((sum, report) => sum + (report['screenMs'] as number), 0) / reports.length],
    [count(({ load }) => load < 1), count(({ load }) => load >= 1 && load < 2), count(({ load }) => load >= 2)],
    [count(({ country }) => country === 'at'), count(({ country }) => country === 'other')],
  ];
};

/** Each value of a result, field by field. */
const valuesOf = ({ fields: results }: SimulatedWindow) =>
  results.map((field) => (field.kind === 'number' ? [field.mean] : field.buckets.map(({ count }) => count)));

describe('simulated statistics', () => {
  it('are exactly the true values without noise, of the devices that are in a sum', async () => {
    const made = await run(policyOf(true, 1), 7, 3);
    for (const window of made) {
      expect(window).toMatchObject({ devices: 5, lost: 2 });
      expect(valuesOf(window)).toEqual(truthsOf(window));
    }
    expect(new Set(made.map((window) => `${truthsOf(window)[0]}`)).size).toBe(1);
    const [whole] = await run(policyOf(true, 4), 9, 1);
    expect(whole).toMatchObject({ devices: 9, lost: 0 });
    expect(valuesOf(whole as SimulatedWindow)).toEqual(truthsOf(whole as SimulatedWindow));
  });

  it.each([
    [1, 12],
    [4, 3],
  ] as const)(
    'have the true values in the error bars of their noise, with authorities: %i',
    async (authorities, windows) => {
      const made = await run(policyOf(false, authorities), 8, windows);
      const inside = made.flatMap((window) =>
        valuesOf(window).flatMap((values, n) =>
          values.map(
            (value, k) =>
              Math.abs(value - (truthsOf(window)[n]?.[k] as number)) <= 1.96 * (window.fields[n]?.error ?? Number.NaN),
          ),
        ),
      );
      expect(inside).toHaveLength(6 * windows);
      const share = inside.filter((one) => one).length / inside.length;
      expect(share).toBeGreaterThan(0.85);
      expect(share).toBeLessThanOrEqual(1);
    },
  );

  it('tell of windows with fewer than Kmin reports', async () => {
    expect(await run(policyOf(true, 1), 2, 1)).toEqual([{ window: 1, devices: 0, lost: 2, fields: [], reports: [] }]);
  });
});
