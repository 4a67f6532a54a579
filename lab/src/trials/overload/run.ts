/**
 * Runs more devices than a server can serve. It must tell devices to come back later, finish the work that it started, and recover soon
 * afterwards.
 */
import { bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { oneShotLines } from '../one-shot.ts';
import { residentBytes } from '../soak/samples.ts';
import { Fleet, MAX_RECOVERY_MS } from './fleet.ts';
import { enrolled, Flood } from './flood.ts';

export interface OverloadOptions {
  readonly seconds: number;
  /** The arrivals, as a multiple of the server's capacity. */
  readonly times: number;
  onWord?(line: string): void;
}

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

export async function runOverload({ seconds, times, onWord = () => {} }: OverloadOptions): Promise<OverloadReport> {
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
    onWord(`carried: ${before.perSecond.toFixed(1)} contributions a second, ${Math.round(before.medianMs)} ms each`);
    const arrivals = Math.max(10, times * before.perSecond);
    const flooders = await Promise.all(Array.from({ length: FLOODERS }, () => enrolled(processes)));
    const memory = (): number => residentBytes(processes.children.get('server')?.pid ?? 0) / 2 ** 20;
    const megabytesBefore = memory();
    let maxMegabytes = megabytesBefore;
    const watching = setInterval(() => {
      maxMegabytes = Math.max(maxMegabytes, memory());
    }, 200);
    const flood = new Flood(processes, flooders, arrivals);
    const [, during] = await Promise.all([flood.run(seconds * 1000), fleet.pace(seconds * 1000)]);
    onWord(`flooded: ${JSON.stringify(flood.answers)}, ${during.perSecond.toFixed(1)} contributions a second`);
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
