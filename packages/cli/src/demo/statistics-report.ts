/** The display of the statistics demo while it runs, and its tables at the end. */
import type { FieldResult } from '@basa/protocol/policy';
import { counted, percent, table } from '../shell/terminal.ts';
import { comparedValues, coverageOf, DEVIATIONS } from '../tasks/statistics-truth.ts';
import { FIELDS } from './reporters.ts';
import type { KnownWindow, StatisticsProgress, StatisticsResult } from './run-statistics.ts';

const COLUMNS = 32;

export interface StatisticsGoal {
  readonly devices: number;
  readonly windows: number;
}

export function statusOf({ done, accepted, leftMs }: StatisticsProgress, { devices, windows }: StatisticsGoal): string {
  const left = `${Math.max(0, Math.ceil(leftMs / 1000))} s left`;
  return `window ${Math.min(done + 1, windows)} of ${windows}: ${accepted} of ${devices} devices have reported, ${left}`;
}

/** One line for each window that is over. */
export function windowLine({ devices, lost, why, fields }: KnownWindow, number: number): string {
  const start = `window ${number}: ${counted(devices, 'device')}${lost === 0 ? '' : `, ${counted(lost, 'report')} left out`}`;
  if (fields.length === 0) return `${start}; no result: ${why}. The demo waits for the next window.`;
  return `${start}; ${fields.map(shortText).join('; ')}`;
}

function shortText(field: FieldResult): string {
  const bar = `± ${shown(DEVIATIONS * field.error)}`;
  if (field.kind === 'number') return `${field.name} ${shown(field.mean)} ${bar}`;
  return `${field.name} ${field.buckets.map(({ bucket, count }) => `${bucket} ${shown(count)}`).join(', ')} (${bar})`;
}

/** A bar as far as the value surely goes, then its error bar. Values below 0 have no bar. */
export function errorBar(value: number, error: number, most: number, columns: number = COLUMNS): string {
  const column = (at: number): number => Math.round((Math.max(0, Math.min(most, at)) / most) * columns);
  const [low, high] = [column(value - error), column(value + error)];
  return `${'█'.repeat(low)}${'▒'.repeat(high - low)}${'·'.repeat(columns - high)}`;
}

/** Numbers by window, and the buckets of the newest window with a result. */
export function reportOf(result: StatisticsResult): string {
  const windows = result.windows.filter(({ fields }) => fields.length > 0);
  const newest = windows.at(-1);
  if (newest === undefined)
    return 'No window has a result: too few reports arrived in time. Stop other programs, or allow more time with --seconds.';
  const coverage = coverageOf(result.windows);
  return [
    ...newest.fields.flatMap((field, n) => ['', ...fieldTable(field, n, windows)]),
    '',
    `▒ is the 95 % error bar, made by noise that protects each device. ${percent(coverage)} of all true values lie inside theirs.`,
    'The true values are known only here, because this program made them up: the server saw sums and no report.',
    '',
    `${counted(windows.length, 'window')} in ${result.seconds.toFixed(0)} s. Next: \`basa dev --statistics\`; docs/guides/statistics.md has your own fields in ten lines.`,
  ].join('\n');
}

function fieldTable(field: FieldResult, at: number, windows: readonly KnownWindow[]): readonly string[] {
  const newest = windows.at(-1) as KnownWindow;
  if (field.kind === 'histogram') {
    const rows = comparedValues(field, newest).map((one) => rowOf(one, field.error, newest.devices));
    return [`${field.name}: devices in the newest window, of ${newest.devices}`, table([HEADINGS, ...rows])];
  }
  const rows = windows.flatMap((window, n) => {
    const own = window.fields[at] as FieldResult;
    return comparedValues(own, window).map((one) =>
      rowOf({ ...one, label: `window ${n + 1}` }, own.error, highest(own)),
    );
  });
  return [`${field.name}: mean of the devices in each window`, table([HEADINGS, ...rows])];
}

const HEADINGS = ['', 'value', '', 'true', ''];

function rowOf(
  { label, value, truth, isInside }: ReturnType<typeof comparedValues>[number],
  error: number,
  most: number,
): readonly string[] {
  const wide = DEVIATIONS * error;
  return [
    label,
    shown(value),
    `± ${shown(wide)}`,
    `${shown(truth)}${isInside ? '' : ' outside'}`,
    errorBar(value, wide, most),
  ];
}

function highest({ name }: FieldResult): number {
  const field = FIELDS[name as keyof typeof FIELDS];
  return 'high' in field ? field.high : 1;
}

function shown(value: number): string {
  return value.toFixed(1);
}

/** The line of `--json`. */
export function statisticsJson(result: StatisticsResult): object {
  const windows = result.windows.filter(({ fields }) => fields.length > 0).length;
  return {
    statistics: { devices: result.devices, windows, fields: Object.keys(FIELDS), coverage: coverageOf(result.windows) },
  };
}
