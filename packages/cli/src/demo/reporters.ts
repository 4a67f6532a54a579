/** Devices that report statistics in every window, for `basa dev --statistics`: real clients in this process, with values that they make up. */

import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BasaClient, defineFields, type ReportOf } from '@basa/client/node';
import { type CreatedTask, createStatisticsTask } from '@basa/client/operator';
import { randomStream } from '@basa/learning';
import { FEWEST } from '../flags/task.ts';
import type { LocalServices } from '../local/local-services.ts';

const FIELDS = defineFields({
  battery: { low: 0, high: 100, step: 1 },
  latencyMs: { edges: [0, 25, 50, 100, 200] },
  network: { choices: ['wifi', 'mobile', 'wired'] },
});
type DemoReport = ReportOf<typeof FIELDS>;

export const WINDOW_MS = 10_000;
/** A day of them. */
const WINDOWS = 8640;

/** Half of the devices are enough for a sum, but at least three. All reports of a window fit one sum, also those of further devices. */
export function createReportingTask(
  services: LocalServices,
  devices: number,
  settings: { readonly bufferSize?: number; readonly threshold?: number },
): Promise<CreatedTask> {
  const { bufferSize = Math.max(4, 2 * devices) } = settings;
  return createStatisticsTask(services, {
    ...{ name: 'dev statistics', fields: FIELDS, windowMs: WINDOW_MS, ...settings, bufferSize },
    minimum: Math.max(FEWEST, Math.ceil(Math.min(devices, bufferSize) / 2)),
    privacy: { participations: WINDOWS },
    // Whoever tries this out looks at it on the pages.
    publicModels: true,
  });
}

/** A device reports in this share of the window, at a random time. */
const EARLY = 0.7;
const SEED = 1;

export class Reporters {
  readonly #folder: string;
  readonly #ending = new AbortController();
  #devices: readonly BasaClient[] = [];
  #living: readonly Promise<void>[] = [];
  #failure: unknown;

  constructor(folder: string) {
    this.#folder = folder;
    setMaxListeners(0, this.#ending.signal); // every device listens to it
  }

  /** Enrols all devices; each reports in every window from the next one on. */
  async start(services: LocalServices, task: string, devices: number): Promise<void> {
    const { serverUrl: server, authorityUrl: authority, authorityKey } = services;
    const tokens = await services.authority.tokens(task, devices, Date.now() + 3_600_000);
    const { signal } = this.#ending;
    this.#devices = await Promise.all(
      tokens.map((token, n) =>
        BasaClient.connect({
          ...{ server, authority, authorityKey, task, token, signal },
          identity: join(this.#folder, 'devices', String(n)),
        }),
      ),
    );
    this.#living = this.#devices.map((device, n) =>
      this.#live(device, n).catch((error: unknown) => {
        if (!signal.aborted) this.#failure ??= error;
      }),
    );
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
    const { signal } = this.#ending;
    const current = (): number => Math.floor(Date.now() / WINDOW_MS);
    for (let window = current() + 1; ; window = Math.max(window, current()) + 1) {
      const chance = randomStream(SEED, 'report', number, window);
      const at = (window + EARLY * chance.unit()) * WINDOW_MS;
      await sleep(Math.max(0, at - Date.now()), undefined, { signal });
      const result = await device.report<typeof FIELDS>(madeUp(number, window), { fields: FIELDS, signal });
      if (result.kind === 'rejected' && ['budget-spent', 'task-finished'].includes(result.reason)) return;
    }
  }
}

/** A battery that empties and is charged again; a network that most devices keep, and its latency. */
function madeUp(device: number, window: number): DemoReport {
  const own = randomStream(SEED, 'device', device);
  const now = randomStream(SEED, 'values', device, window);
  const battery = Math.round((100 * own.unit() + 97 * window) % 100);
  const [home, away] = [own.unit() < 0.7 ? 'wifi' : 'wired', 'mobile'] as const;
  const network = now.unit() < 0.3 ? away : home;
  const usual = { wifi: 45, mobile: 90, wired: 20 }[network];
  return { battery, latencyMs: Math.round(usual * (0.5 + 1.2 * now.unit())), network };
}
