/** The demo of statistics: both services as processes, devices that report in every window, and the results beside the true values. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type FieldResult, Statistics, type WindowResult } from '@basa/protocol/policy';
import { startLocalServices } from '../local/local-services.ts';
import { CommandError, type CommandResult, EXIT_CODE, within } from '../shell/command.ts';
import { counted, percent, table } from '../shell/terminal.ts';
import { comparedValues, coverageOf, DEVIATIONS, fieldText, type KnownFields, truthsOf } from '../tasks/statistics.ts';
import type { DemoInput } from './demo-flags.ts';
import { FIELDS, startReporters } from './reporters.ts';

/** A window that is over, with what is known about the devices in its sums. */
type KnownWindow = WindowResult & KnownFields;

const WINDOW_MS = 6000;
/** The demo ends after this many windows with results. */
const WINDOWS = 3;
const REPORTERS = 48;
/** Windows whose reports are remembered. */
const REMEMBERED = 20;
const LOOK_MS = 250;

export async function statisticsDemo({ flags, signal, terminal }: DemoInput, folder: string): Promise<CommandResult> {
  if (flags.mode !== undefined) throw new CommandError('--statistics trains no model; remove --mode');
  const devices = within(flags.devices ?? REPORTERS, 'devices', { min: 4, max: 1000 });
  terminal.line(`Starting the authority and the server in ${folder} ...`);
  const services = await startLocalServices({ folder, signal });
  try {
    if (services.hasPages) terminal.line(`Watch it: ${services.serverUrl}/`);
    terminal.line(`Enrolling ${devices} devices. Each reports once in a window of ${WINDOW_MS / 1000} s.`);
    const began = performance.now();
    const fleet = { name: 'demo statistics', devices, windowMs: WINDOW_MS, folder, seed: flags.seed };
    const reporters = await startReporters(services, { ...fleet, remembered: REMEMBERED });
    terminal.line(`A window needs ${reporters.created.policy.minimum} reports.`);
    try {
      const known: KnownWindow[] = [];
      for (;;) {
        await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
        reporters.check();
        for (const window of await services.server.statistics(reporters.created.task)) {
          if (!isNew(window, known)) continue;
          const truths = truthsOf(Statistics.fieldsOf(FIELDS), await reporters.included(window.window));
          known.push({ ...window, truths });
          terminal.line(windowLine({ ...window, truths }, known.length));
        }
        const windows = known.filter(({ fields }) => fields.length > 0);
        const window = reporters.windowNow();
        const leftMs = (window + 1) * WINDOW_MS - Date.now();
        terminal.status(statusText(windows.length, reporters.accepted(window), leftMs, devices));
        const seconds = (performance.now() - began) / 1000;
        const isReached = windows.length >= WINDOWS;
        if (!isReached && seconds <= flags.seconds) continue;
        terminal.line(reportOf(windows, seconds));
        return { json: jsonOf(devices, windows), exitCode: isReached ? EXIT_CODE.fine : EXIT_CODE.failed };
      }
    } finally {
      await reporters.stop();
    }
  } finally {
    await services.stop();
  }
}

/** A sum may be opened a while after its window is over. */
function isNew({ window, isOver, to, fields }: WindowResult, known: readonly KnownWindow[]): boolean {
  const isFinal = isOver && (fields.length > 0 || Date.now() > to + WINDOW_MS);
  return isFinal && known.every((one) => one.window !== window);
}

/** `done`: windows with results; `accepted`: reports in the window that is open, which ends in `leftMs`. */
export function statusText(done: number, accepted: number, leftMs: number, devices: number): string {
  const left = Math.max(0, Math.ceil(leftMs / 1000));
  return `window ${Math.min(done + 1, WINDOWS)} of ${WINDOWS}: ${accepted} of ${devices} devices have reported, ${left} s left`;
}

/** One line for each window that is over. */
export function windowLine({ devices, lost, why, fields }: KnownWindow, number: number): string {
  const start = `window ${number}: ${counted(devices, 'device')}${lost === 0 ? '' : `, ${counted(lost, 'report')} left out`}`;
  if (fields.length === 0) return `${start}; no result: ${why}. The demo waits for the next window.`;
  return `${start}; ${fields.map(fieldText).join('; ')}`;
}

/** Numbers by window, and the buckets of the newest window. */
function reportOf(windows: readonly KnownWindow[], seconds: number): string {
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

function jsonOf(devices: number, windows: readonly KnownWindow[]): object {
  const coverage = windows.length === 0 ? undefined : coverageOf(windows);
  return { statistics: { devices, windows: windows.length, fields: Object.keys(FIELDS), coverage } };
}
