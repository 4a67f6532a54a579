/** The demo of statistics: both services as processes, devices that report in every window, and the results beside the true values. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fieldsOf, type WindowResult } from '@basa/protocol/policy';
import { startLocalServices } from '../local/local-services.ts';
import type { Terminal } from '../shell/terminal.ts';
import { type KnownFields, truthsOf } from '../tasks/statistics-truth.ts';
import { createReportingTask, FIELDS, Reporters } from './reporters.ts';

export interface StatisticsOptions {
  readonly folder: string;
  readonly devices: number;
  readonly windowMs: number;
  /** The demo ends after this many windows with results. */
  readonly windows: number;
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
  readonly windows: readonly KnownWindow[];
  readonly seconds: number;
}

const OWN_FIELDS = fieldsOf(FIELDS);
const LOOK_MS = 250;
/** Far more than the demo needs: also with windows that have no result, no device uses up its budget. */
const PLANNED = 1000;

export async function runStatistics(options: StatisticsOptions): Promise<StatisticsResult> {
  const { folder, devices, windowMs, seed, signal, terminal } = options;
  terminal.line(`Starting the authority and the server in ${folder} ...`);
  const services = await startLocalServices({ folder, signal });
  const reporters = new Reporters({ folder, devices, windowMs, seed });
  try {
    if (services.hasPages) terminal.line(`Watch it: ${services.serverUrl}/`);
    const choice = { name: 'demo statistics', devices, windowMs, windows: PLANNED };
    const { task, policy } = await createReportingTask(services, choice);
    terminal.line(
      `Enrolling ${devices} devices. Each reports once in a window of ${windowMs / 1000} s; a window needs ${policy.minimum} reports.`,
    );
    const began = performance.now();
    await reporters.start(services, task);
    const seconds = (): number => (performance.now() - began) / 1000;
    const known: KnownWindow[] = [];
    for (;;) {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      reporters.check();
      for (const window of await services.server.statistics(task)) {
        if (!isNew(window, known, windowMs)) continue;
        known.push({ ...window, truths: truthsOf(OWN_FIELDS, await reporters.included(window.window)) });
        options.onWindow(known.at(-1) as KnownWindow, known.length);
      }
      const done = known.filter(({ fields }) => fields.length > 0).length;
      const { window } = reporters;
      options.onProgress({ done, accepted: reporters.accepted(window), leftMs: (window + 1) * windowMs - Date.now() });
      if (done >= options.windows || seconds() > options.maxSeconds)
        return { devices, windows: known, seconds: seconds() };
    }
  } finally {
    await reporters.stop();
    await services.stop();
  }
}

/** A sum may be opened a while after its window is over. */
function isNew({ window, isOver, to, fields }: WindowResult, known: readonly KnownWindow[], windowMs: number): boolean {
  const isFinal = isOver && (fields.length > 0 || Date.now() > to + windowMs);
  return isFinal && known.every((one) => one.window !== window);
}
