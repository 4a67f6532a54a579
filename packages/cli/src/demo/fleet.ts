/** The fleet of the demo: devices spread over worker threads, and their reports. */

import { Worker } from 'node:worker_threads';
import type { Costs } from '@basa/client/node';
import { workerModule } from '@basa/runtime/node';
import type { ModeChoice } from '../flags/task.ts';

export interface FleetTally {
  readonly ready: number;
  readonly accepted: readonly AcceptedNews[];
  readonly dropped: number;
  readonly rejected: number;
  readonly retries: number;
  /** All requests of the devices to both services. */
  readonly requests: number;
}

export class Fleet {
  readonly #workers: readonly { readonly worker: Worker; readonly ended: Promise<unknown> }[];
  readonly #accepted: AcceptedNews[] = [];
  readonly #counts = { ready: 0, dropped: 0, rejected: 0, retry: 0, requests: 0 };
  #failure: Error | undefined;

  constructor(work: FleetWork, threads: number) {
    const { script, execArgv } = workerModule(import.meta.url, './fleet-worker');
    const shares = Array.from({ length: threads }, (_, n) =>
      work.devices.filter(({ number }) => number % threads === n),
    );
    this.#workers = shares.map((devices) => {
      const workerData: FleetWork = { ...work, devices };
      const worker = new Worker(script, { workerData, ...(execArgv !== undefined && { execArgv: [...execArgv] }) });
      worker.on('message', (news: FleetNews) => this.#hear(news));
      worker.on('error', (error: Error) => {
        this.#failure ??= error;
      });
      return { worker, ended: new Promise((resolve) => worker.once('exit', resolve)) };
    });
  }

  get tally(): FleetTally {
    const { ready, dropped, rejected, retry, requests } = this.#counts;
    return { ready, dropped, rejected, retries: retry, requests, accepted: [...this.#accepted] };
  }

  /** Throws the error with which a worker failed. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Devices end their current work, wipe their secrets and close. */
  async stop(): Promise<void> {
    for (const { worker } of this.#workers) worker.postMessage('stop');
    await Promise.all(this.#workers.map(({ ended }) => ended));
  }

  #hear(news: FleetNews): void {
    if (news.kind === 'accepted') this.#accepted.push(news);
    else this.#counts[news.kind] += news.kind === 'requests' ? news.count : 1;
  }
}

export interface FleetDevice {
  readonly number: number;
  readonly folder: string;
  readonly token: string;
  /** Its examples in the training set. */
  readonly indices: Uint32Array;
}

export interface FleetWork {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
  readonly mode: ModeChoice;
  readonly devices: readonly FleetDevice[];
  readonly seed: number;
  /** Mean of the pause between two contributions of a device. */
  readonly pauseMs: number;
  /** One-shot: the share of contributions that are permanently given up before they are sent. */
  readonly dropShare: number;
}

/** An update that the server accepted, with its training settings, so that the run can be repeated without security. */
export interface AcceptedNews {
  readonly kind: 'accepted';
  readonly device: number;
  readonly round: number;
  readonly trainedOn: number;
  /** The name of the buffer, or in one-shot mode of the upload. */
  readonly ctx: string;
  readonly costs: Costs;
}

export type FleetNews =
  | { readonly kind: 'ready'; readonly device: number }
  | AcceptedNews
  | { readonly kind: 'dropped'; readonly device: number; readonly step: string }
  | { readonly kind: 'rejected'; readonly device: number; readonly reason: string }
  | { readonly kind: 'retry' }
  /** The requests of a thread since its last message of this kind. */
  | { readonly kind: 'requests'; readonly count: number };

/** The seed of a device's training in one of its rounds. */
export function trainingSeed(seed: number, device: number, round: number): number {
  return (seed * 1_000_003 + device * 10_007 + round) % 2 ** 31;
}
