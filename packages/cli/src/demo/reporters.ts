/** Devices that report statistics in every window, for the demo and for `basa dev --statistics`: real clients in this process, with values that they make up. */

import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BasaClient, type Contribution, defineFields, type ReportOf } from '@basa/client/node';
import { createStatisticsTask } from '@basa/client/operator';
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

/** A device reports in this share of the window, at a random time. */
const EARLY = 0.7;
const FATE_MS = 200;

interface Given {
  readonly window: number;
  readonly report: DemoReport;
  /** Asks whether it is in the sum. */
  isIncluded(): Promise<boolean>;
}

/**
 * Creates the task, and enrols all devices; each reports in every window from the next one on. Half of the devices are enough for a sum,
 * but at least three. All reports of a window fit one sum, also those of further devices.
 */
export async function startReporters(
  services: LocalServices,
  { folder, seed, remembered, devices, bufferSize = Math.max(4, 2 * devices), ...settings }: ReportersOptions,
) {
  const { windowMs } = settings;
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
  const fleet = await Promise.all(tokens.map(connect));
  const given: Given[] = [];
  let failure: unknown;
  const windowNow = (): number => Math.floor(Date.now() / windowMs);

  async function live(device: BasaClient, number: number): Promise<void> {
    for (let window = windowNow() + 1; ; window = Math.max(window, windowNow()) + 1) {
      const chance = randomStream(seed, 'report', number, window);
      const at = (window + EARLY * chance.unit()) * windowMs;
      await sleep(Math.max(0, at - Date.now()), undefined, { signal });
      const report = madeUp(number, window, seed);
      const result = await device.report<typeof FIELDS>(report, { fields: FIELDS, signal });
      if (result.kind === 'rejected' && ['budget-spent', 'task-finished'].includes(result.reason)) return;
      // A report that took longer is one of the next window, or of this one: it is left out of what is known here.
      if (result.kind === 'rejected' || windowNow() !== window) continue;
      given.push({ window, report, isIncluded: () => isIncluded(device, result, signal) });
      if (given.length > remembered * devices) given.shift();
    }
  }
  const living = fleet.map((device, n) =>
    live(device, n).catch((error: unknown) => {
      if (!signal.aborted) failure ??= error;
    }),
  );
  const of = (window: number): readonly Given[] => given.filter((one) => one.window === window);
  return {
    created,
    windowNow,
    /** The number of devices whose report of this window was accepted. */
    accepted: (window: number): number => of(window).length,
    /** The reports in the sum of a window. */
    async included(window: number): Promise<readonly DemoReport[]> {
      const accepted = of(window);
      const included = await Promise.all(accepted.map((one) => one.isIncluded()));
      return accepted.flatMap(({ report }, n) => (included[n] ? [report] : []));
    },
    /** Throws the error with which a device failed. */
    check(): void {
      if (failure !== undefined) throw failure;
    },
    async stop(): Promise<void> {
      ending.abort();
      await Promise.all(living);
      await Promise.all(fleet.map((device) => device.close()));
    },
  };
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
