/** The demo's display while it runs, and its report at the end. */
import type { Step } from '@basa/client/node';
import { counted, plot, table } from '../shell/terminal.ts';
import type { AcceptedNews } from './fleet-messages.ts';
import type { DemoProgress, DemoResult } from './run-demo.ts';

const STEPS: readonly Step[] = ['mask', 'upload'];

/** The usual number of buffers to the target, for the estimate of the remaining time. */
const USUAL_BUFFERS = 10;

export interface DemoGoal {
  readonly target: number;
  readonly further: number;
}

/** A plot of the accuracy and two lines, which redraw themselves. */
export function statusOf(progress: DemoProgress, goal: DemoGoal): string {
  const { versions, tally, seconds } = progress;
  const updates = tally.accepted.length;
  const pace = (updates / Math.max(1, seconds)).toFixed(1);
  return [
    plot(
      versions.map(({ accuracy }) => accuracy),
      { mark: goal.target, label: percent },
    ),
    `accuracy ${percent(newestOf(versions))} of ${percent(goal.target)}   training loss ${lossOf(versions)}   buffers ${versions.length - 1}   ${seconds.toFixed(0)} s${leftOf(progress, goal)}`,
    `updates ${updates} (${pace} a second)   dropped out ${tally.dropped}`,
  ].join('\n');
}

/** One line for each version, if the output is not a terminal. */
export function lineOf(progress: DemoProgress, goal: DemoGoal): string {
  const { versions, tally, seconds } = progress;
  const newest = versions.at(-1);
  return `version ${newest?.version}: accuracy ${percent(newestOf(versions))}, mean training loss ${lossOf(versions)}, ${counted(newest?.accepted ?? 0, 'update')}, mean age ${newest?.meanAge?.toFixed(1) ?? '0.0'}, ${counted(tally.dropped, 'contribution')} dropped out so far, ${seconds.toFixed(1)} s${leftOf(progress, goal)}`;
}

/** The estimated time to the end, by the pace so far. */
function leftOf({ versions, seconds }: DemoProgress, { target, further }: DemoGoal): string {
  const buffers = versions.length - 1;
  if (buffers < 2) return '';
  const reached = versions.findIndex(({ accuracy }) => accuracy >= target);
  const left = reached < 0 ? Math.max(1, USUAL_BUFFERS - buffers) + further : reached + further - buffers;
  return left <= 0 ? '' : `, about ${Math.ceil((left * seconds) / buffers)} s to go`;
}

/** The largest fall below the best so far, in points. */
function largestDropOf(versions: DemoProgress['versions']): number {
  let [best, drop] = [0, 0];
  for (const { accuracy } of versions) {
    best = Math.max(best, accuracy);
    drop = Math.max(drop, best - accuracy);
  }
  return 100 * drop;
}

/** The line of `--json`. */
export function jsonOf(result: DemoResult): object {
  const costs = costsOf(result.tally.accepted);
  return {
    accuracy: result.accuracy,
    plainAccuracy: result.plainAccuracy,
    buffers: result.versions.length - 1,
    accepted: result.versions.reduce((sum, { accepted }) => sum + accepted, 0),
    dropped: result.tally.dropped,
    bytesPerContribution: sum(costs.map(({ sent, received }) => sent + received)),
    msPerContribution: sum(costs.map(({ ms }) => ms)),
    seconds: result.seconds,
    reached: result.ending === 'reached',
    largestDrop: largestDropOf(result.versions),
    trainingLosses: result.versions.flatMap(({ metrics }) => metrics?.['loss'] ?? []),
    accuracies: result.versions.map(({ accuracy }) => accuracy),
    steps: Object.fromEntries(costs.map(({ step, ...cost }) => [step, cost])),
  };
}

export function summaryOf(result: DemoResult, { target, further }: DemoGoal): string {
  const { versions, tally, seconds } = result;
  const costs = costsOf(tally.accepted);
  const taken = costs.filter(({ ms }) => ms > 0);
  const rows = taken.map(({ step, ms, sent, received }) => [step, ms.toFixed(0), sent.toFixed(0), received.toFixed(0)]);
  const total = [
    'all',
    sum(costs.map(({ ms }) => ms)).toFixed(0),
    sum(costs.map(({ sent }) => sent)).toFixed(0),
    sum(costs.map(({ received }) => received)).toFixed(0),
  ];
  const buffers = counted(versions.length - 1, 'buffer');
  const first = versions.findIndex(({ accuracy }) => accuracy >= target);
  const verdict =
    result.ending === 'reached'
      ? `Reached ${percent(target)} at buffer ${first}, then ran ${counted(further, 'more buffer')}: ${percent(result.accuracy)} after ${buffers} and ${seconds.toFixed(0)} s`
      : missOf(result, target);
  return [
    '',
    plot(
      versions.map(({ accuracy }) => accuracy),
      { mark: target, label: percent },
    ),
    verdict,
    `Largest drop below the best accuracy so far: ${largestDropOf(versions).toFixed(1)} points.`,
    `Mean training loss: ${lossOf(versions.slice(0, 2))} in the first buffer, ${lossOf(versions)} in the last. The server saw only sums of it.`,
    `The same run without security reached ${percent(result.plainAccuracy)} (same devices, seeds and buffers; updates added in clear).`,
    `${counted(tally.dropped, 'contribution')} dropped out before the upload; every batch could still be summed.`,
    '',
    'Average cost of one contribution for a device:',
    table([['step', 'ms', 'bytes up', 'bytes down'], ...rows, total]),
    '',
    'Next: `basa dev` starts a server and an authority for your own clients; `basa new my-project` creates your own project.',
  ].join('\n');
}

/** The reason why the target was missed, and the advice. */
function missOf({ ending, versions, accuracy, seconds, tally }: DemoResult, target: number): string {
  const stood = `Did not reach ${percent(target)}: ${percent(accuracy)} after ${counted(versions.length - 1, 'buffer')} and ${seconds.toFixed(0)} s`;
  if (ending === 'buffers')
    return `${stood}. The limit of buffers is used up. Allow more with --buffers, or lower --target.`;
  if (tally.accepted.length === 0)
    return `${stood}. No update was accepted. Run it again with --keep and read server.log and authority.log in its folder.`;
  return `${stood}. This machine was too slow for the time limit. Stop other programs, or allow more time with --seconds.`;
}

function newestOf(versions: DemoProgress['versions']): number {
  return versions.at(-1)?.accuracy ?? 0;
}

/** The loss of the newest version: a private metric, before each device's own training. */
function lossOf(versions: DemoProgress['versions']): string {
  return versions.at(-1)?.metrics?.['loss']?.toFixed(2) ?? '-';
}

interface StepCost {
  readonly step: Step;
  readonly ms: number;
  readonly sent: number;
  readonly received: number;
}

/** Means over the accepted contributions. */
function costsOf(accepted: readonly AcceptedNews[]): readonly StepCost[] {
  return STEPS.map((step) => {
    const costs = accepted.flatMap((news) => news.costs[step] ?? []);
    const mean = (of: 'ms' | 'sent' | 'received'): number =>
      sum(costs.map((cost) => cost[of])) / Math.max(1, costs.length);
    return { step, ms: mean('ms'), sent: mean('sent'), received: mean('received') };
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
