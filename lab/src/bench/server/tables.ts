/** The results of a benchmark of the server, as tables. */
import { formatTable } from '../table.ts';
import { type Load, percentile } from './load.ts';
import { type Round, STEPS, type Step } from './round.ts';

export interface Measured {
  readonly name: string;
  /** The best round of each step, with the times of the requests of all rounds. */
  readonly loads: Readonly<Record<Step, Load>>;
  readonly closeMs: number;
  readonly closesPerSecond: number;
  readonly bytesPerUpload: number;
}

export function bestOf(name: string, rounds: readonly Round[], bytesPerUpload: number): Measured {
  const load = (step: Step): Load => ({
    perSecond: Math.max(...rounds.map(({ loads }) => loads[step].perSecond)),
    ms: rounds.flatMap(({ loads }) => loads[step].ms).sort((a, b) => a - b),
  });
  return {
    name,
    loads: Object.fromEntries(STEPS.map((step) => [step, load(step)])) as Measured['loads'],
    closeMs: Math.min(...rounds.map(({ closeMs }) => closeMs)),
    closesPerSecond: Math.max(...rounds.map(({ closesPerSecond }) => closesPerSecond)),
    bytesPerUpload,
  };
}

export function ratioOf({ loads }: Measured): number {
  return loads.durable.perSecond / loads.discard.perSecond;
}

export function uploadTable(results: readonly Measured[]): string {
  const columns = ['durable', 'discard', 'tcp', 'buffered', 'direct'] as const;
  const head = ['d', 'durable/s', 'node:http/s', 'TCP/s', 'buffered file/s', 'direct file/s', 'ratio', 'MB an upload'];
  return formatTable(
    head,
    results.map((one) => [
      one.name,
      ...columns.map((step) => one.loads[step].perSecond.toFixed(1)),
      ratioOf(one).toFixed(3),
      (one.bytesPerUpload / 1e6).toFixed(2),
    ]),
  );
}

export function latencyTable(results: readonly Measured[], small: Measured): string {
  const row = (name: string, { perSecond, ms }: Load): string[] => [
    name,
    perSecond.toFixed(1),
    ...[0.5, 0.95, 0.99].map((share) => percentile(ms, share).toFixed(1)),
  ];
  return formatTable(
    ['requests', 'a second', 'p50 ms', 'p95 ms', 'p99 ms'],
    [
      ...(['seats', 'deposits', 'keys'] as const).map((step) => row(step, small.loads[step])),
      ...results.map(({ name, loads }) => row(`uploads, d = ${name}`, loads.durable)),
    ],
  );
}

export function closeTable(results: readonly Measured[]): string {
  return formatTable(
    ['d', 'close ms', 'closes/s'],
    results.map(({ name, closeMs, closesPerSecond }) => [name, closeMs.toFixed(0), closesPerSecond.toFixed(2)]),
  );
}
