/** The demo of statistics: both services as processes, devices that report in every window, and the results beside the true values. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type FieldResult, Statistics, type WindowResult } from '@basa/protocol/policy';
import { startLocalServices } from '../local/local-services.ts';
import { counted, percent, type Terminal, table } from '../shell/terminal.ts';
import { comparedValues, coverageOf, DEVIATIONS, fieldText, type KnownFields, truthsOf } from '../tasks/statistics.ts';
import { createReportingTask, FIELDS, Reporters } from './reporters.ts';

export interface StatisticsGoal {
  readonly devices: number;
  /** The demo ends after this many windows with results. */
  readonly windows: number;
}

export interface StatisticsOptions extends StatisticsGoal {
  readonly folder: string;
  readonly maxSeconds: number;
  readonly seed: number;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  onProgress(progress: StatisticsProgress): void;
  onWindow(window: KnownWindow, number: number): void;
}

export interface StatisticsProgress {
  /** Windows with results. */
  readonly done: number;
  /** Reports that were accepted in the window that is open. */
  readonly accepted: number;
  readonly leftMs: number;
}

/** A window that is over, with what is known about the devices in its sums. */
export type KnownWindow = WindowResult & KnownFields;

export interface StatisticsResult {
  readonly devices: number;
  /** Those with results. */
  readonly windows: readonly KnownWindow[];
  readonly seconds: number;
  readonly isReached: boolean;
}

const WINDOW_MS = 6000;
const REMEMBERED = 20;
const LOOK_MS = 250;

export async function runStatistics(options: StatisticsOptions): Promise<StatisticsResult> {
  const { folder, devices, seed, signal, terminal } = options;
  terminal.line(`Starting the authority and the server in ${folder} ...`);
  const services = await startLocalServices({ folder, signal });
  const fleet = { devices, windowMs: WINDOW_MS };
  const reporters = new Reporters({ ...fleet, folder, seed, remembered: REMEMBERED });
  try {
    if (services.hasPages) terminal.line(`Watch it: ${services.serverUrl}/`);
    const { task, policy } = await createReportingTask(services, { name: 'demo statistics', ...fleet });
    terminal.line(
      `Enrolling ${devices} devices. Each reports once in a window of ${WINDOW_MS / 1000} s; a window needs ${policy.minimum} reports.`,
    );
    const began = performance.now();
    await reporters.start(services, task);
    const own = Statistics.fieldsOf(FIELDS);
    const known: KnownWindow[] = [];
    for (;;) {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      reporters.check();
      for (const window of await services.server.statistics(task)) {
        if (!isNew(window, known)) continue;
        known.push({ ...window, truths: truthsOf(own, await reporters.included(window.window)) });
        options.onWindow(known.at(-1) as KnownWindow, known.length);
      }
      const windows = known.filter(({ fields }) => fields.length > 0);
      const [done, { window }] = [windows.length, reporters];
      options.onProgress({ done, accepted: reporters.accepted(window), leftMs: (window + 1) * WINDOW_MS - Date.now() });
      const [seconds, isReached] = [(performance.now() - began) / 1000, done >= options.windows];
      if (isReached || seconds > options.maxSeconds) return { devices, windows, seconds, isReached };
    }
  } finally {
    await reporters.stop();
    await services.stop();
  }
}

/** A sum may be opened a while after its window is over. */
function isNew({ window, isOver, to, fields }: WindowResult, known: readonly KnownWindow[]): boolean {
  const isFinal = isOver && (fields.length > 0 || Date.now() > to + WINDOW_MS);
  return isFinal && known.every((one) => one.window !== window);
}

export function statusText(
  { done, accepted, leftMs }: StatisticsProgress,
  { devices, windows }: StatisticsGoal,
): string {
  const left = `${Math.max(0, Math.ceil(leftMs / 1000))} s left`;
  return `window ${Math.min(done + 1, windows)} of ${windows}: ${accepted} of ${devices} devices have reported, ${left}`;
}

/** One line for each window that is over. */
export function windowLine({ devices, lost, why, fields }: KnownWindow, number: number): string {
  const start = `window ${number}: ${counted(devices, 'device')}${lost === 0 ? '' : `, ${counted(lost, 'report')} left out`}`;
  if (fields.length === 0) return `${start}; no result: ${why}. The demo waits for the next window.`;
  return `${start}; ${fields.map(fieldText).join('; ')}`;
}

/** Numbers by window, and the buckets of the newest window. */
export function reportOf({ windows, seconds }: StatisticsResult): string {
  const newest = windows.at(-1);
  if (newest === undefined)
    return 'No window has a result: too few reports arrived in time. Stop other programs, or allow more time with --seconds.';
  return [
    ...newest.fields.flatMap((field, n) => ['', ...fieldTable(field, n, windows)]),
    '',
    `▒ is the 95 % error bar, made by noise that protects each device. ${percent(coverageOf(windows))} of all true values lie inside theirs.`,
    'The true values are known only here, because this program made them up: the server saw sums and no report.',
    '',
    `${counted(windows.length, 'window')} in ${seconds.toFixed(0)} s. Next: \`basa dev --statistics\`; docs/guides/statistics.md has your own fields in ten lines.`,
  ].join('\n');
}

function fieldTable(field: FieldResult, at: number, windows: readonly KnownWindow[]): readonly string[] {
  const rowsOf = (window: KnownWindow, most: number, label?: string): readonly (readonly string[])[] => {
    const own = window.fields[at] as FieldResult;
    const wide = DEVIATIONS * own.error;
    return comparedValues(own, window).map(({ label: bucket, value, truth, isInside }) => [
      label ?? bucket,
      value.toFixed(1),
      `± ${wide.toFixed(1)}`,
      `${truth.toFixed(1)}${isInside ? '' : ' outside'}`,
      errorBar(value, wide, most),
    ]);
  };
  const headings = ['', 'value', '', 'true', ''];
  const newest = windows.at(-1) as KnownWindow;
  if (field.kind === 'histogram')
    return [
      `${field.name}: devices in the newest window, of ${newest.devices}`,
      table([headings, ...rowsOf(newest, newest.devices)]),
    ];
  const { high = 1 } = FIELDS[field.name as keyof typeof FIELDS] as { readonly high?: number };
  return [
    `${field.name}: mean of the devices in each window`,
    table([headings, ...windows.flatMap((window, n) => rowsOf(window, high, `window ${n + 1}`))]),
  ];
}

const COLUMNS = 32;

/** A bar as far as the value surely goes, then its error bar. Values below 0 have no bar. */
export function errorBar(value: number, error: number, most: number, columns: number = COLUMNS): string {
  const column = (at: number): number => Math.round((Math.max(0, Math.min(most, at)) / most) * columns);
  const [low, high] = [column(value - error), column(value + error)];
  return `${'█'.repeat(low)}${'▒'.repeat(high - low)}${'·'.repeat(columns - high)}`;
}

/** The line of `--json`. */
export function statisticsJson({ devices, windows }: StatisticsResult): object {
  const coverage = windows.length === 0 ? undefined : coverageOf(windows);
  return { statistics: { devices, windows: windows.length, fields: Object.keys(FIELDS), coverage } };
}
