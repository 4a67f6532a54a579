import { addInPlace, plainVectorKernel, planPrivate, RING_32, toSigned } from '@basa/masking';
import { millis } from '@basa/protocol';
import { judgeSum } from '@basa/protocol/internal/one-shot/sums.ts';
import { sumRules } from '@basa/protocol/internal/wire/input.ts';
import { taskNoise } from '@basa/protocol/internal/wire/privacy.ts';
import {
  fieldsOf,
  type Report,
  reportWords,
  type StatisticsPolicy,
  statisticsNorm,
  statisticsWords,
  windowAt,
} from '@basa/protocol/internal/wire/statistics.ts';
import { statisticsFault } from '@basa/protocol/internal/wire/statistics-results.ts';
import { buildReport } from '@basa/protocol/one-shot';
import {
  defineFields,
  ENGINE,
  fieldResults,
  ONE_SHOT_DEFAULTS,
  POLICY_DEFAULTS,
  policyProblem,
  type ReportOf,
  type TaskPolicy,
} from '@basa/protocol/policy';
import { seededWords } from '@basa/simulator/node';
import { describe, expect, it } from 'vitest';
import { updateWords } from '../../src/wire/input.ts';

const KERNEL = plainVectorKernel();

const DEFINED = defineFields({
  screenMs: { low: 0, high: 1000, step: 10 },
  load: { edges: [0, 1, 2] },
  country: { choices: ['at', 'de'] },
});
const FIELDS = fieldsOf(DEFINED);

/** Of ten devices, with the level that the noise needs. */
function taskOf(unsafeExact: boolean, authorityNoise = false): TaskPolicy & { readonly statistics: StatisticsPolicy } {
  const [dimension, clip] = [statisticsWords(FIELDS), statisticsNorm(FIELDS)];
  const numbers = { bufferSize: 10, minimum: 8, dimension, clip };
  const noise = { noiseMultiplier: 1, colluders: 1 };
  const planned = planPrivate({ ...numbers, ...noise, isCentral: authorityNoise, isWhole: true });
  if (planned.kind === 'refused') throw new Error(planned.sentence);
  const { level, modulus } = planned.plan;
  return {
    ...POLICY_DEFAULTS,
    name: new Uint8Array(),
    authorities: [new Uint8Array(32)],
    engine: ENGINE.oneShot,
    oneShot: { ...ONE_SHOT_DEFAULTS, authorityNoise },
    ...numbers,
    ...(unsafeExact ? { level: 1, modulus: RING_32 } : { level, modulus }),
    privacy: unsafeExact ? undefined : { ...noise, budget: { delta: 1e-6, participations: 24 } },
    statistics: { fields: FIELDS, windowMs: 1000, unsafeExact },
    staleness: { kind: 'constant' },
    maxStaleness: 1,
    manifestHash: new Uint8Array(32),
    serverKey: new Uint8Array(32),
    uploadLeaseMs: 1,
  };
}

const REPORTS: readonly ReportOf<typeof DEFINED>[] = Array.from({ length: 10 }, (_, n) => ({
  screenMs: 90 * n,
  load: n / 4,
  country: n < 3 ? 'at' : n < 9 ? 'de' : 'other',
}));

/** The judged sum of their inputs. */
function summed(policy: TaskPolicy, reports: readonly Report[], words: (target: Uint32Array) => void) {
  const rules = sumRules(policy, 0);
  const inputs = reports.map((report) => buildReport(rules, reportWords(FIELDS, report).words, words));
  const sum = inputs[0] as Uint32Array;
  for (const input of inputs.slice(1)) addInPlace(sum, input, policy.modulus, KERNEL);
  return Array.from(updateWords(rules, sum).update, (word) => toSigned(word, policy.modulus));
}

describe('the fields of a statistics task', () => {
  it('give a report the types of its values', () => {
    const report: ReportOf<typeof DEFINED> = { screenMs: 1, load: 1, country: 'de' };
    // @ts-expect-error: a choice that the task does not have
    const other: ReportOf<typeof DEFINED> = { ...report, country: 'fr' };
    expect(reportWords(FIELDS, other).outside).toEqual(['country']);
  });

  it('are a number, edges or choices', () => {
    expect(() => fieldsOf({ a: { low: 1, edges: [1, 2] } as never })).toThrow('the field a needs low, high and step');
    expect(() => fieldsOf({})).toThrow('at least one field');
    expect(() => fieldsOf({ a: { edges: Array.from({ length: 257 }, (_, n) => n) } })).not.toThrow();
  });

  it.each([
    [{ ...REPORTS[0], load: '1' }, 'the field load needs a number, got string'],
    [{ screenMs: 1, load: 1 }, 'the field country needs a string, got undefined'],
    [{ ...REPORTS[0], extra: 1 }, 'the task has no field extra'],
  ])('a report of other types is an error of its application: %j', (report, error) => {
    expect(() => reportWords(FIELDS, report as Report)).toThrow(new TypeError(error));
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 1e9])('%d, which is out of range, is told and counts', (value) => {
    const { words, outside } = reportWords(FIELDS, { screenMs: value, load: value, country: 'x' });
    expect(outside).toEqual(['screenMs', 'load', 'country']);
    expect([...words]).toEqual([value > 0 ? 50 : -50, 0, 0, 50, 0, 0, 50]);
  });

  it('are scaled up to the number with the most steps, so that no field drowns in the noise of another', () => {
    const errors = (step: number) => {
      const fields = fieldsOf({ ...DEFINED, screenMs: { low: 0, high: 1000, step } });
      const policy = { ...taskOf(false), statistics: { fields, windowMs: 1000, unsafeExact: false } };
      const found = fieldResults(
        { ...policy, clip: statisticsNorm(fields) },
        { devices: 10, batches: 1, sums: new Array(7).fill(0) },
      );
      return found.map(({ error }) => error);
    };
    for (const [n, error] of errors(0.1).entries()) expect(error / (errors(100)[n] as number)).toBeCloseTo(1, 1);
  });

  it('windows follow each other on the clock of the device', () => {
    expect([0, 999, 1000, 1999].map((now) => windowAt({ windowMs: 1000 }, millis(now)))).toEqual([0, 0, 1, 1]);
  });
});

describe('the policy of a statistics task', () => {
  it('needs the noise of a private task with the coarsest level that it allows', () => {
    const policy = taskOf(false);
    expect(policyProblem(policy)).toBeUndefined();
    expect(taskNoise(policy)?.norm).toBeCloseTo(policy.level * 50 * Math.sqrt(3), 9);
    expect(policy.level === 1 || (taskNoise({ ...policy, level: policy.level - 1 })?.deviation ?? 0) < 4).toBe(true);
    expect(policyProblem({ ...policy, privacy: undefined })).toContain('unsafeExact');
    expect(policyProblem({ ...policy, statistics: undefined, level: 1, clip: 4 })).toContain('too coarse for noise');
  });
});

describe('the result of a window', () => {
  it('is exactly the plain sums without noise', () => {
    const policy = taskOf(true);
    const sums = summed(policy, REPORTS, seededWords(1));
    expect(statisticsFault(policy, sums, 10)).toBeUndefined();
    expect(fieldResults(policy, { devices: 10, batches: 1, sums })).toEqual([
      { kind: 'number', name: 'screenMs', mean: 405, error: 0 },
      {
        kind: 'histogram',
        name: 'load',
        error: 0,
        buckets: [
          { bucket: '0..1', count: 4 },
          { bucket: '1..2', count: 4 },
          { bucket: 'other', count: 2 },
        ],
      },
      {
        kind: 'histogram',
        name: 'country',
        error: 0,
        buckets: [
          { bucket: 'at', count: 3 },
          { bucket: 'de', count: 6 },
          { bucket: 'other', count: 1 },
        ],
      },
    ]);
  });

  it('has the true values in 95 % of its error bars', () => {
    const policy = taskOf(false);
    const random = seededWords(2);
    const truth = [405, 4, 4, 2, 3, 6, 1];
    let [inside, all] = [0, 0];
    for (let window = 0; window < 150; window++) {
      // Two batches of a window, each with its own noise.
      const batches = [summed(policy, REPORTS, random), summed(policy, REPORTS, random)];
      for (const sums of batches) expect(statisticsFault(policy, sums, 10)).toBeUndefined();
      const sums = truth.map((_, n) => batches.reduce((sum, words) => sum + (words[n] as number), 0));
      const found = fieldResults(policy, { devices: 20, batches: 2, sums }).flatMap((field) =>
        field.kind === 'number'
          ? [{ value: field.mean, error: field.error }]
          : field.buckets.map(({ count }) => ({ value: count / 2, error: field.error / 2 })),
      );
      for (const [n, { value, error }] of found.entries()) {
        all++;
        if (Math.abs(value - (truth[n] as number)) <= 1.96 * error) inside++;
      }
    }
    expect(inside / all).toBeGreaterThan(0.93);
    expect(inside / all).toBeLessThan(0.97);
  });

  it('has the noise of an authority once a batch, however many devices there are', () => {
    const policy = taskOf(false, true);
    const of = (batches: number) => {
      const [number] = fieldResults(policy, { devices: 20, batches, sums: new Array(7).fill(0) });
      return number?.error ?? 0;
    };
    expect(of(4)).toBeCloseTo(2 * of(1), 9);
    expect(of(1)).toBeCloseTo(((taskNoise(policy)?.deviation ?? 0) / policy.level) * (10 / 20), 9);
  });
});

describe('a sum that is no sum of honest reports', () => {
  it('is quarantined when it is opened', () => {
    const policy = taskOf(true);
    const rules = sumRules(policy, 0);
    const [input = new Uint32Array()] = REPORTS.map((report) =>
      buildReport(rules, reportWords(FIELDS, report).words, seededWords(1)),
    );
    expect(judgeSum(rules, input, 1)).toMatchObject({ kind: 'good' });
    updateWords(rules, input).update[6] = 1;
    expect(judgeSum(rules, input, 1)).toMatchObject({ kind: 'quarantine', why: expect.stringContaining('country') });
  });

  const exact = summed(taskOf(true), REPORTS, seededWords(3));

  it.each([
    ['a number beyond the range of all', 0, 600, 'screenMs is out of range'],
    ['a number below the range of all', 0, -600, 'screenMs is out of range'],
    ['a bucket of less than nobody', 1, -250, 'load is out of range'],
    ['a bucket of more than everybody', 1, 350, 'load is out of range'],
    ['a device too many in a histogram', 2, 1, 'load do not add up'],
    ['a device too few in a histogram', 5, -1, 'country do not add up'],
  ])('is refused without noise: %s', (_, word, change, fault) => {
    const spoilt = exact.map((sum, n) => (n === word ? sum + change : sum));
    expect(statisticsFault(taskOf(true), spoilt, 10)).toContain(fault);
  });

  it('is refused with noise once it is beyond its bound', () => {
    const policy = taskOf(false);
    const bound = 10 * Math.sqrt(10) * (taskNoise(policy)?.deviation ?? 0);
    const sums = exact.map((sum) => sum * policy.level);
    const changed = (word: number, change: number) => sums.map((sum, n) => (n === word ? sum + change : sum));
    /** The words of one device. */
    const level = 50 * policy.level;
    expect(statisticsFault(policy, changed(6, 0.99 * bound), 10)).toBeUndefined();
    expect(statisticsFault(policy, changed(6, 1.01 * bound + 9 * level), 10)).toContain('country is out of range');
    expect(statisticsFault(policy, changed(6, -1.01 * bound - level), 10)).toContain('country is out of range');
    const [two, three] = [changed(6, 0.85 * bound), changed(6, 0.9 * bound)];
    two[5] = (two[5] as number) + 0.85 * bound;
    three[5] = (three[5] as number) + 0.9 * bound;
    expect(statisticsFault(policy, two, 10)).toBeUndefined();
    expect(statisticsFault(policy, three, 10)).toContain('country do not add up');
    expect(statisticsFault(policy, changed(0, 2 * bound + 600 * policy.level), 10)).toContain('screenMs');
  });
});
