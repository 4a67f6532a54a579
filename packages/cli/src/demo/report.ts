/** What the demo draws while it runs and says at its end. */
import type { Step } from '@basa/client/node';
import { bar, sparkline, table } from '../terminal.ts';
import type { AcceptedNews } from './fleet-messages.ts';
import type { DemoProgress, DemoResult } from './run-demo.ts';

const STEPS: readonly Step[] = ['seat', 'deposit', 'key', 'mask', 'upload'];

/** A few lines that redraw themselves. */
export function statusOf({ versions, tally, seconds }: DemoProgress, target: number): string {
  const accuracies = versions.map(({ accuracy = 0 }) => accuracy);
  const newest = accuracies.at(-1) ?? 0;
  const updates = tally.accepted.length;
  return [
    `accuracy  ${sparkline(accuracies)} ${percent(newest)}  ${bar(newest / target)} of ${percent(target)}`,
    `buffers   ${versions.length - 1} opened   updates ${updates} (${(updates / Math.max(1, seconds)).toFixed(1)} a second)   dropped out ${tally.dropped}   ${seconds.toFixed(0)} s`,
  ].join('\n');
}

/** One line for a version, where nobody watches. */
export function lineOf({ versions, tally, seconds }: DemoProgress): string {
  const newest = versions.at(-1);
  return `version ${newest?.version}: accuracy ${percent(newest?.accuracy ?? 0)}, ${newest?.accepted} updates, ${tally.dropped} dropped out so far, ${seconds.toFixed(1)} s`;
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
    reached: result.reached,
    steps: Object.fromEntries(costs.map(({ step, ...cost }) => [step, cost])),
  };
}

export function summaryOf(result: DemoResult, target: number, folder: string): string {
  const costs = costsOf(result.tally.accepted);
  const rows = costs.map(({ step, ms, sent, received }) => [step, ms.toFixed(0), sent.toFixed(0), received.toFixed(0)]);
  const total = [
    'all',
    sum(costs.map(({ ms }) => ms)).toFixed(0),
    sum(costs.map(({ sent }) => sent)).toFixed(0),
    sum(costs.map(({ received }) => received)).toFixed(0),
  ];
  const verdict = result.reached ? `reached ${percent(target)}` : `did not reach ${percent(target)}`;
  return [
    '',
    `${verdict}: ${percent(result.accuracy)} after ${result.versions.length - 1} buffers and ${result.seconds.toFixed(0)} s`,
    `the same run without security: ${percent(result.plainAccuracy)} (same devices, seeds and buffers, updates added in clear)`,
    `${result.tally.dropped} devices dropped out after their deposit; every buffer was opened all the same`,
    '',
    'what one contribution cost a device, on the average:',
    table([['step', 'ms', 'bytes up', 'bytes down'], ...rows, total]),
    '',
    `logs and data: ${folder}`,
    'next: `npm run basa -- dev` keeps server and authority up for your own clients; `npm run attacks` shows what sealed mode is for',
  ].join('\n');
}

interface StepCost {
  readonly step: Step;
  readonly ms: number;
  readonly sent: number;
  readonly received: number;
}

/** Means over the contributions that were taken. */
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
