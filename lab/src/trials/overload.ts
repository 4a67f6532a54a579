/**
 * Runs more devices than a server can serve. It must tell devices to come back later, finish the work that it started, and recover soon
 * afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BasaClient } from '@basa/client/node';
import { bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { oneShotLines } from './fleet.ts';
import { enrolled, Flood } from './flood.ts';
import { memoryMiB } from './measured.ts';
import { isPassing, sdkDevice } from './sdk-device.ts';
import { fateOf } from './verdict.ts';

export interface OverloadReport {
  /** Contributions a second without the flood, with it, and after it. */
  readonly carried: number;
  readonly duringFlood: number;
  readonly afterwards: number;
  /** Arrivals a second, as asked for and as they were sent. */
  readonly arrivals: number;
  readonly sent: number;
  /** The answers to the arrivals of the flood, by status; 0 means no answer. */
  readonly answers: Readonly<Record<string, number>>;
  readonly withoutTime: number;
  /** Updates of the fleet that were acknowledged, by their fate. */
  readonly acknowledged: number;
  readonly fates: Readonly<Record<string, number>>;
  readonly lost: number;
  readonly megabytesBefore: number;
  readonly maxMegabytes: number;
  /** From the end of the flood to the first contribution that took no longer than twice as long as before it. */
  readonly recoveryMs: number;
  readonly problems: readonly string[];
}

const FLOODERS = 40;
const MEASURED_MS = 15_000;
const DIMENSION = 20_000;
const MAX_GROWTH_MEGABYTES = 400;

/** `times`: the arrivals, as a multiple of the server's capacity. */
export async function runOverload(
  seconds: number,
  times: number,
  tell: (line: string) => void,
): Promise<OverloadReport> {
  const bundle = await bundleProcesses();
  const policy = { dimension: DIMENSION, bufferSize: 4, minimum: 2, ...oneShotLines() };
  const processes = await TestProcesses.open({
    bundle,
    policy,
    specification: { stallMs: 500, places: 8 },
  });
  const ending = new AbortController();
  try {
    const fleet = new Fleet(processes, ending.signal);
    const living = await fleet.start();
    const before = await fleet.pace(MEASURED_MS);
    tell(`carried: ${before.perSecond.toFixed(1)} contributions a second, ${Math.round(before.medianMs)} ms each`);
    const arrivals = Math.max(10, times * before.perSecond);
    const flooders = await Promise.all(Array.from({ length: FLOODERS }, () => enrolled(processes)));
    const memory = (): number => memoryMiB(processes.children.get('server')?.pid ?? 0, 'VmRSS');
    const megabytesBefore = memory();
    let maxMegabytes = megabytesBefore;
    const watching = setInterval(() => {
      maxMegabytes = Math.max(maxMegabytes, memory());
    }, 200);
    const flood = new Flood(processes, flooders, arrivals);
    const [, during] = await Promise.all([flood.run(seconds * 1000), fleet.pace(seconds * 1000)]);
    tell(`flooded: ${JSON.stringify(flood.answers)}, ${during.perSecond.toFixed(1)} contributions a second`);
    const recoveryMs = await fleet.recovered(2 * before.medianMs);
    const after = await fleet.pace(MEASURED_MS);
    clearInterval(watching);
    ending.abort();
    await Promise.all(living);
    const fates = await fleet.fates();
    const { included = 0, quarantined = 0, refused = 0, waiting = 0 } = fates;
    const over = fates['version-over'] ?? 0;
    const kept = included + quarantined + refused + over + Math.min(waiting, 2 * policy.bufferSize);
    const report = {
      carried: before.perSecond,
      duringFlood: during.perSecond,
      afterwards: after.perSecond,
      arrivals,
      sent: flood.sent / seconds,
      answers: flood.answers,
      withoutTime: flood.withoutTime,
      acknowledged: fleet.acknowledged.length,
      fates,
      lost: fleet.acknowledged.length - kept,
      megabytesBefore,
      maxMegabytes,
      recoveryMs,
    };
    return { ...report, problems: problemsOf(report) };
  } finally {
    ending.abort();
    await processes.close();
  }
}

function problemsOf(report: Omit<OverloadReport, 'problems'>): readonly string[] {
  const { answers, withoutTime, duringFlood, lost, megabytesBefore, maxMegabytes, recoveryMs } = report;
  const wrong = Object.entries(answers).filter(([status]) => !['200', '429', '503'].includes(status));
  const checks: readonly (readonly [boolean, string])[] = [
    [wrong.length > 0, `answers that neither admit a device nor tell it when to come back: ${JSON.stringify(wrong)}`],
    [
      (answers['429'] ?? 0) + (answers['503'] ?? 0) === 0,
      'no device was told to come back later, so there was no overload',
    ],
    [withoutTime > 0, `${withoutTime} were put off without Retry-After`],
    [duringFlood === 0, 'nothing was accepted during the flood'],
    [lost > 0, `${lost} acknowledged updates have no outcome`],
    [maxMegabytes - megabytesBefore > MAX_GROWTH_MEGABYTES, `the server grew to ${Math.round(maxMegabytes)} MB`],
    [recoveryMs > MAX_RECOVERY_MS, `it was not well again after ${recoveryMs} ms`],
  ];
  return checks.filter(([isWrong]) => isWrong).map(([, words]) => words);
}

const FLEET = 8;
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;
const MAX_LOOKS = 100;
/** Longer than this is not waited for a server to be well again. */
const MAX_RECOVERY_MS = 30_000;

/** Devices of the SDK that contribute all the time, also during the overload. */
class Fleet {
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
    const clients = await Promise.all(tokens.map((token) => sdkDevice(processes.services, token)));
    return clients.map((client) => this.#live(client));
  }

  async #live(client: BasaClient): Promise<void> {
    while (!this.#signal.aborted) {
      const began = Date.now();
      const result = await this.#offer(client).catch((error: unknown) => {
        if (isPassing(error)) return undefined;
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
    for (const name of this.acknowledged) {
      const { fate } = await fateOf(this.#processes, name);
      fates[fate] = (fates[fate] ?? 0) + 1;
    }
    return fates;
  }
}
