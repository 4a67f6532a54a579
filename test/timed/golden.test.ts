/** Golden values, known from arithmetic or from an event simulation that shares no code with ours: throughput within 2 %. */
import { SYNCHRONISATION_READINGS } from '@basa/baselines';
import {
  type LightSecAggCosts,
  LightSecAggScheme,
  type OneShotCosts,
  OneShotScheme,
  type PaperCosts,
  PaperScheme,
  PlainScheme,
  rounds,
  type TimedEvent,
  Timeline,
} from '@basa/simulator';
import { describe, expect, it } from 'vitest';
import { fleetOf, measure, steadyState } from './fleet.ts';

const within = (value: number, golden: number, share = 0.02): void => {
  expect(Math.abs(value / golden - 1), `${value} for ${golden}`).toBeLessThan(share);
};

const free = { addSeconds: 0 };

describe('no secure aggregation', () => {
  it.each([
    [32, 0, 0.3125],
    [32, 3, 1.25],
    [32, 6, 2.1875],
    [200, 1, 0.1],
    [200, 3, 0.2],
    [200, 6, 0.35],
  ])('%i users, beta %d: %d s a version', (concurrency, beta, golden) => {
    const { secondsPerVersion, meanStaleness } = steadyState(
      fleetOf(beta, { concurrency }),
      (timeline) => new PlainScheme(timeline, free),
    );
    within(secondsPerVersion, golden);
    if (beta > 0) within(meanStaleness, (concurrency - 1) / 10);
  });
});

const paperCosts = (seconds: number): PaperCosts => ({
  quantiseSeconds: 0,
  turnSeconds: () => seconds,
  leaseSeconds: 10,
});

describe('BASA paper: one turn at a time', () => {
  const golden: readonly (readonly [number, number, readonly number[]])[] = [
    [32, 0, [0.319, 0.5, 1, 2]],
    [32, 3, [1.26, 1.275, 1.32, 2]],
    [32, 6, [2.196, 2.208, 2.244, 2.361]],
    [200, 0, [0.2, 0.5, 1, 2]],
    [200, 3, [0.208, 0.5, 1, 2]],
    [200, 6, [0.352, 0.5, 1, 2]],
  ];
  it.each(golden)('%i users, beta %d', (concurrency, beta, values) => {
    [0.02, 0.05, 0.1, 0.2].forEach((turn, n) => {
      const fleet = fleetOf(beta, { concurrency });
      const { secondsPerVersion } = steadyState(fleet, (timeline) => new PaperScheme(timeline, paperCosts(turn)));
      within(secondsPerVersion, values[n] as number);
    });
  });

  it('a saturated position is held all the time', () => {
    const { utilisation } = steadyState(fleetOf(0), (timeline) => new PaperScheme(timeline, paperCosts(0.2)));
    within(utilisation['position'] as number, 1);
  });
});

const ofOneShot: OneShotCosts = {
  deviceSeconds: 0.2,
  intakeSeconds: 0.001,
  inspectSeconds: 0.001,
  releaseSeconds: (size) => size * 0.001,
  openSeconds: () => 0.01,
};

describe('BASA one-shot: one message, one version a batch', () => {
  const admission = { places: 80, minimum: 5 };
  const fleet = (changes: Parameters<typeof fleetOf>[1] = {}) =>
    fleetOf(3, { versions: 'one', minimum: 5, admission, ...changes });
  const versionsOf = (changes?: Parameters<typeof fleetOf>[1], costs = ofOneShot) => {
    const timeline = new Timeline(fleet(changes));
    const made: TimedEvent[] = [];
    for (const event of timeline.run(new OneShotScheme(timeline, costs))) {
      if (event.kind === 'version') made.push(event);
      if (made.length === 300) return made as Extract<TimedEvent, { readonly kind: 'version' }>[];
    }
    throw new Error('the events ended');
  };

  it.each([0, 0.3])('batches are of one version, of Kmin to K updates, with drop-outs of %d', (dropouts) => {
    for (const { included } of versionsOf({ dropouts })) {
      expect(new Set(included.map(({ trip }) => trip.version)).size).toBe(1);
      expect(included.length).toBeGreaterThanOrEqual(5);
      expect(included.length).toBeLessThanOrEqual(10);
    }
  });

  it('the authority is a queue of examinations and sums of masks: beyond its rate it decides', () => {
    const slow = { ...ofOneShot, inspectSeconds: 0.1, releaseSeconds: (size: number) => size * 0.1 };
    const last = versionsOf({}, slow).at(-1);
    const updates = versionsOf({}, slow).reduce((sum, { included }) => sum + included.length, 0);
    within((last?.time ?? 0) / updates, 0.2, 0.08);
  });

  it('a drop-out does not slow the other devices down', () => {
    const rateOf = (dropouts: number): number => {
      const made = versionsOf({ dropouts });
      return made.reduce((sum, { included }) => sum + included.length, 0) / (made.at(-1)?.time ?? 1);
    };
    within(rateOf(0.3) / (1 - 0.3), rateOf(0), 0.1);
  });
});

describe('LightSecAgg with a buffer, by the reading of its wait', () => {
  const golden: readonly (readonly [keyof typeof SYNCHRONISATION_READINGS, readonly number[]])[] = [
    ['sequential', [1.06, 1.45, 1.65, 1.93, 2.28, 4.36]],
    ['barrier', [0.74, 1.13, 1.34, 1.6, 1.98, 4.05]],
    ['block', [0.5, 0.67, 0.77, 0.93, 1.17, 2.94]],
    ['background', [0.3125, 0.3125, 0.3125, 0.3125, 0.3125, 0.3125]],
  ];
  it.each(golden)('%s', (name, values) => {
    [17, 22, 24, 26, 28, 32].forEach((answers, n) => {
      const costs: LightSecAggCosts = {
        offlineSeconds: 0,
        isOverlapped: true,
        maskSeconds: 0,
        answerSeconds: 0,
        decodeSeconds: 0,
        answers,
        reading: SYNCHRONISATION_READINGS[name],
      };
      const fleet = fleetOf(1, { computeSeconds: () => 0 });
      const { secondsPerVersion } = steadyState(fleet, (timeline) => new LightSecAggScheme(timeline, costs));
      within(secondsPerVersion, values[n] as number, 0.03);
    });
  });
});

describe('rounds', () => {
  it('wait for the slowest of 32: b + beta H_32', () => {
    const costs = {
      setupSeconds: 0.5,
      isOverlapped: false,
      maskSeconds: 0.3,
      recoverySeconds: () => 0.2,
      threshold: 22,
    };
    within(measure(rounds(fleetOf(3), costs), 10, 2000).secondsPerVersion, 2 + 3 * 4.0585);
    // Beside the training the set-up costs nothing.
    within(measure(rounds(fleetOf(3), { ...costs, isOverlapped: true }), 10, 2000).secondsPerVersion, 1.5 + 3 * 4.0585);
  });
});
