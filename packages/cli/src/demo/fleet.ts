/** The fleet of the demo: devices spread over worker threads, and their reports. */
import { Worker } from 'node:worker_threads';
import { workerModule } from '@basa/runtime/node';
import type { AcceptedNews, FleetNews, FleetWork } from './fleet-messages.ts';

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
