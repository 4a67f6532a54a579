/** Devices that report statistics in every window, for the demo and for `basa dev --statistics`: real clients in this process, with values that they make up. */

import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BasaClient, type Contribution, defineFields, type ReportOf } from '@basa/client/node';
import { type CreatedTask, createStatisticsTask } from '@basa/client/operator';
import { randomStream } from '@basa/learning';
import { FEWEST } from '../flags/task.ts';
import type { LocalServices } from '../local/local-services.ts';

export const FIELDS = defineFields({
  battery: { low: 0, high: 100, step: 1 },
  latencyMs: { edges: [0, 25, 50, 100, 200] },
  network: { choices: ['wifi', 'mobile', 'wired'] },
});
type DemoReport = ReportOf<typeof FIELDS>;

/** Planned windows, far more than a day at a computer has. */
const WINDOWS = 8640;

export interface ReportersOptions {
  readonly name: string;
  readonly devices: number;
  readonly windowMs: number;
  readonly bufferSize?: number;
  readonly threshold?: number;
  readonly folder: string;
  readonly seed: number;
  /** Reports of so many windows are remembered. */
  readonly remembered: number;
}

/**
 * Creates the task, and enrols all devices; each reports in every window from the next one on. Half of the devices are enough for a sum,
 * but at least three. All reports of a window fit one sum, also those of further devices.
 */
export async function startReporters(services: LocalServices, options: ReportersOptions): Promise<Reporters> {
  const { folder, seed: _, remembered: __, devices, bufferSize = Math.max(4, 2 * devices), ...settings } = options;
  const created = await createStatisticsTask(services, {
    ...{ ...settings, fields: FIELDS, bufferSize },
    minimum: Math.max(FEWEST, Math.ceil(Math.min(devices, bufferSize) / 2)),
    privacy: { participations: WINDOWS },
    // Whoever tries this out looks at it on the pages.
    publicModels: true,
  });
  const { serverUrl: server, authorityUrl: authority, authorityKey } = services;
  const { task } = created;
  const ending = new AbortController();
  const { signal } = ending;
  setMaxListeners(0, signal); // every device listens to it
  const tokens = await services.authority.tokens(task, devices, Date.now() + 3_600_000);
  const connect = (token: string, n: number): Promise<BasaClient> => {
    const identity = join(folder, 'devices', String(n));
    return BasaClient.connect({ server, authority, authorityKey, task, token, signal, identity });
  };
  return new Reporters(created, await Promise.all(tokens.map(connect)), options, ending);
}

/** A device reports in this share of the window, at a random time. */
const EARLY = 0.7;
const FATE_MS = 200;

interface Given {
  readonly window: number;
  readonly report: DemoReport;
  /** Asks whether it is in the sum. */
  isIncluded(): Promise<boolean>;
}

export class Reporters {
  readonly created: CreatedTask;
  readonly #options: ReportersOptions;
  readonly #given: Given[] = [];
  readonly #ending: AbortController;
  readonly #devices: readonly BasaClient[];
  readonly #living: readonly Promise<void>[];
  #failure: unknown;

  constructor(
    created: CreatedTask,
    devices: readonly BasaClient[],
    options: ReportersOptions,
    ending: AbortController,
  ) {
    this.created = created;
    this.#options = options;
    this.#ending = ending;
    this.#devices = devices;
    this.#living = devices.map((device, n) =>
      this.#live(device, n).catch((error: unknown) => {
        if (!ending.signal.aborted) this.#failure ??= error;
      }),
    );
  }

  get window(): number {
    return Math.floor(Date.now() / this.#options.windowMs);
  }

  /** The number of devices whose report of this window was accepted. */
  accepted(window: number): number {
    return this.#given.filter((one) => one.window === window).length;
  }

  /** The reports in the sum of a window. */
  async included(window: number): Promise<readonly DemoReport[]> {
    const given = this.#given.filter((one) => one.window === window);
    const included = await Promise.all(given.map((one) => one.isIncluded()));
    return given.filter((_, n) => included[n]).map(({ report }) => report);
  }

  /** Throws the error with which a device failed. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#living);
    await Promise.all(this.#devices.map((device) => device.close()));
  }

  async #live(device: BasaClient, number: number): Promise<void> {
    const { seed, windowMs, devices, remembered } = this.#options;
    const { signal } = this.#ending;
    for (let window = this.window + 1; ; window = Math.max(window, this.window) + 1) {
      const chance = randomStream(seed, 'report', number, window);
      const at = (window + EARLY * chance.unit()) * windowMs;
      await sleep(Math.max(0, at - Date.now()), undefined, { signal });
      const report = madeUp(number, window, seed);
      const result = await device.report<typeof FIELDS>(report, { fields: FIELDS, signal });
      if (result.kind === 'rejected' && ['budget-spent', 'task-finished'].includes(result.reason)) return;
      // A report that took longer is one of the next window, or of this one: it is left out of what is known here.
      if (result.kind === 'rejected' || this.window !== window) continue;
      this.#given.push({ window, report, isIncluded: () => isIncluded(device, result, signal) });
      if (this.#given.length > remembered * devices) this.#given.shift();
    }
  }
}

async function isIncluded(device: BasaClient, given: Contribution, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const fate = await device.fate(given, { signal });
    if (fate !== 'waiting') return fate === 'included';
    await sleep(FATE_MS, undefined, { signal });
  }
}

/** A battery that empties and is charged again; a network that most devices keep, and its latency. */
function madeUp(device: number, window: number, seed: number): DemoReport {
  const own = randomStream(seed, 'device', device);
  const now = randomStream(seed, 'values', device, window);
  const battery = Math.round((100 * own.unit() + 97 * window) % 100);
  const [home, away] = [own.unit() < 0.7 ? 'wifi' : 'wired', 'mobile'] as const;
  const network = now.unit() < 0.3 ? away : home;
  const usual = { wifi: 45, mobile: 90, wired: 20 }[network];
  return { battery, latencyMs: Math.round(usual * (0.5 + 1.2 * now.unit())), network };
}
