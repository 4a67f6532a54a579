/** Statistics tasks: policies that can be used and that cannot, and reports with their words. */
import { ascii, concatBytes, RING_32, toHex } from '@basa/masking';
import { millis } from '@basa/protocol';
import type { PrivacyPolicy } from '@basa/protocol/internal/wire/privacy.ts';
import {
  fieldsOf,
  type Report,
  reportWords,
  type StatisticsPolicy,
  statisticsNorm,
  statisticsWords,
  windowAt,
  windowStatement,
} from '@basa/protocol/internal/wire/statistics.ts';
import { TaskPolicy, taskIdOf } from '@basa/protocol/policy';
import { modelNameOf } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';

type Case = readonly [what: string, changes: Partial<TaskPolicy>];

const FIELDS = fieldsOf({
  screenMs: { low: 0, high: 1001, step: 10 },
  load: { edges: [-1, 0.5, 2] },
  country: { choices: ['at', 'New Zealand'] },
});

export const STATISTICS: StatisticsPolicy = { fields: FIELDS, windowMs: 0x01020304, unsafeExact: false };

function statisticsTask(
  privacy: PrivacyPolicy | undefined,
  lines: Partial<StatisticsPolicy> = {},
): Partial<TaskPolicy> {
  const statistics = { ...STATISTICS, unsafeExact: privacy === undefined, ...lines };
  const { fields } = statistics;
  return {
    statistics,
    privacy,
    modulus: RING_32,
    dimension: statisticsWords(fields),
    clip: statisticsNorm(fields),
    level: 1,
  };
}

export function usableStatistics(privacy: PrivacyPolicy): readonly Case[] {
  return [
    ['statistics', statisticsTask(privacy)],
    ['exact statistics', statisticsTask(undefined)],
    [
      'statistics of one number',
      statisticsTask(privacy, { fields: fieldsOf({ a: { low: -5, high: 15, step: 0.5 } }) }),
    ],
    ['statistics with the largest window', statisticsTask(privacy, { windowMs: 2 ** 32 - 1 })],
  ];
}

export function unusableStatistics(privacy: PrivacyPolicy, good: Partial<TaskPolicy>): readonly Case[] {
  const { oneShot } = good;
  const changed = (what: string, changes: Partial<TaskPolicy>): Case => [
    `statistics: ${what}`,
    { ...statisticsTask(privacy), ...changes },
  ];
  return [
    changed('another dimension', { dimension: 8 }),
    changed('another norm', { clip: 50 }),
    changed('metrics', { metrics: [{ name: 'loss', low: 0, high: 1 }] }),
    changed('too little noise', { privacy: { ...privacy, noiseMultiplier: 0.9 } }),
    changed(
      'noise too small for a discrete Gaussian',
      statisticsTask(privacy, { fields: fieldsOf({ a: { choices: ['b'] } }) }),
    ),
    changed('no noise', { privacy: undefined }),
    changed('exact with noise', { statistics: { ...STATISTICS, unsafeExact: true } }),
    ...(oneShot === undefined
      ? []
      : [changed('several windows a batch', { oneShot: { ...oneShot, versionMinimum: 2 } })]),
  ];
}

/** Policies with one thing in their fields spoilt. */
export function malformedStatistics(
  written: (statistics: StatisticsPolicy) => Uint8Array,
  replaced: (bytes: Uint8Array, from: Uint8Array, to: Uint8Array) => Uint8Array,
): readonly (readonly [string, Uint8Array])[] {
  const spoilt = (what: string, from: Uint8Array, to: Uint8Array): readonly [string, Uint8Array] => [
    `statistics: ${what}`,
    replaced(written(STATISTICS), from, to),
  ];
  const text = (name: string): Uint8Array => concatBytes(Uint8Array.of(name.length, 0), ascii(name));
  const kind = (number: number): Uint8Array => concatBytes(Uint8Array.of(number), text('screenMs'));
  return [
    spoilt('no such kind of field', kind(0), kind(3)),
    spoilt('two fields of a name', text('country'), text('load')),
    spoilt('a name that begins with a digit', text('load'), text('1oad')),
    spoilt('a step that is negative', doubles(10), doubles(-10)),
    spoilt('a step wider than the range', doubles(10), doubles(1002)),
    spoilt('a range that is none', doubles(1001), doubles(0)),
    spoilt('edges that fall', doubles(-1, 0.5, 2), doubles(-1, 2, 0.5)),
    spoilt(
      'one edge',
      concatBytes(Uint8Array.of(3, 0), doubles(-1, 0.5, 2)),
      concatBytes(Uint8Array.of(1, 0), doubles(-1)),
    ),
    spoilt('two choices alike', text('New Zealand'), text('at')),
    spoilt('the choice "other"', text('New Zealand'), text('other')),
    spoilt('a choice with a comma', text('New Zealand'), text('New,Zealand')),
    spoilt('a window of no time', Uint8Array.of(4, 3, 2, 1), new Uint8Array(4)),
  ];
}

export interface ReportVector {
  readonly policy: string;
  readonly report: Report;
  /** Before level and noise. */
  readonly words: readonly number[];
  readonly outside: readonly string[];
  /** The device's clock, and the number and the name of its window. */
  readonly now: number;
  readonly window: number;
  readonly model: string;
}

const REPORTS: readonly Report[] = [
  { screenMs: 412, load: 0, country: 'at' },
  { screenMs: 0, load: -1, country: 'New Zealand' },
  { screenMs: 1001, load: 0.5, country: 'other' },
  { screenMs: 505.5, load: 1.99, country: 'at' },
  { screenMs: 495.5, load: 2, country: 'AT' },
  { screenMs: -0.1, load: -1.01, country: '' },
  { screenMs: 1e300, load: 1e300, country: 'a country whose name is much too long for a choice' },
];

export function reportVectors(good: TaskPolicy, privacy: PrivacyPolicy): readonly ReportVector[] {
  return [statisticsTask(privacy), statisticsTask(undefined, { windowMs: 1000 })].flatMap((changes) => {
    const policy = { ...good, ...changes };
    const task = taskIdOf(nodeSuite, policy);
    const { fields, windowMs } = policy.statistics as StatisticsPolicy;
    return REPORTS.map((report, n): ReportVector => {
      const { words, outside } = reportWords(fields, report);
      const now = millis(1_800_000_000_000 - 1 + n);
      const window = windowAt({ windowMs }, now);
      const model = modelNameOf(nodeSuite, windowStatement(task, { windowMs }, window));
      return {
        policy: toHex(TaskPolicy.encode(policy)),
        report,
        words: [...words],
        outside,
        now,
        window,
        model: toHex(model),
      };
    });
  });
}

function doubles(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer);
}
