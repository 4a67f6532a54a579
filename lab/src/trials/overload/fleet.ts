/** Devices of the SDK that contribute all the time, also during the overload. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@basa/client/internal/connect.ts';
import { type BasaClient, inMemoryStoreForTests, nodeOutside, ProblemError, UnreachableError } from '@basa/client/node';
import { SERVER_PATH } from '@basa/protocol/http';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';

const FLEET = 8;
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;
const MAX_LOOKS = 100;
/** Longer than this is not waited for a server to be well again. */
export const MAX_RECOVERY_MS = 30_000;

export class Fleet {
  /** The names of the uploads. */
  readonly acknowledged: string[] = [];
  /** When each contribution was acknowledged, and how long it took. */
  readonly #done: { readonly at: number; readonly tookMs: number }[] = [];
  readonly #processes: TestProcesses;
  readonly #signal: AbortSignal;

  constructor(processes: TestProcesses, signal: AbortSignal) {
    this.#processes = processes;
    this.#signal = signal;
  }

  async start(): Promise<readonly Promise<void>[]> {
    const processes = this.#processes;
    const tokens = await processes.authority.tokens(processes.task, FLEET, Date.now() + 86_400_000);
    const clients = await Promise.all(
      tokens.map((token) =>
        connect(nodeOutside(), inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32))), {
          ...processes.services,
          token,
          floor: { minimum: 2, noNoise: true },
        }),
      ),
    );
    return clients.map((client) => this.#live(client));
  }

  async #live(client: BasaClient): Promise<void> {
    while (!this.#signal.aborted) {
      const began = Date.now();
      const result = await this.#offer(client).catch((error: unknown) => {
        if (error instanceof ProblemError || error instanceof UnreachableError) return undefined;
        throw error;
      });
      if (result?.kind === 'accepted') {
        this.acknowledged.push(result.ctx);
        this.#done.push({ at: Date.now(), tookMs: Date.now() - began });
      } else
        await sleep(Math.min(LONGEST_PAUSE_MS, result?.retryAfterMs ?? PAUSE_MS), undefined, {
          signal: this.#signal,
        }).catch(() => {});
    }
    await client.close();
  }

  async #offer(client: BasaClient) {
    const delta = new Float32Array(this.#processes.policy.dimension).map(() => Math.random() - 0.5);
    const { version } = await client.model();
    return client.contribute(delta, { trainedOn: version });
  }

  async pace(ms: number): Promise<{ readonly perSecond: number; readonly medianMs: number }> {
    const from = Date.now();
    await sleep(ms);
    const done = this.#done
      .filter(({ at }) => at >= from)
      .map(({ tookMs }) => tookMs)
      .sort((a, b) => a - b);
    return { perSecond: (1000 * done.length) / ms, medianMs: done[done.length >> 1] ?? Number.POSITIVE_INFINITY };
  }

  /** Returns how long it took until a contribution was as quick as this. */
  async recovered(tookMs: number): Promise<number> {
    const from = Date.now();
    const isWell = (): boolean => this.#done.some((one) => one.at >= from && one.tookMs <= tookMs);
    while (!isWell() && Date.now() - from <= MAX_RECOVERY_MS) await sleep(PAUSE_MS);
    return Date.now() - from;
  }

  /** The number of acknowledged updates by their fate at the server, once it has decided all but the last batches. */
  async fates(): Promise<Readonly<Record<string, number>>> {
    // The last batches may have too few devices left.
    const maxWaiting = 2 * this.#processes.policy.bufferSize;
    for (let look = 0; ; look++) {
      const fates = await this.#fatesNow();
      if ((fates['waiting'] ?? 0) <= maxWaiting || look === MAX_LOOKS) return fates;
      await sleep(PAUSE_MS);
    }
  }

  async #fatesNow(): Promise<Record<string, number>> {
    const fates: Record<string, number> = {};
    const { task, urls } = this.#processes;
    for (const name of this.acknowledged) {
      const response = await fetch(new URL(SERVER_PATH.shotFate(task, name), urls.server));
      const { fate = 'unknown' } = (await response.json()) as { readonly fate?: string };
      fates[fate] = (fates[fate] ?? 0) + 1;
    }
    return fates;
  }
}
