/** The demo's display while it runs, and its report at the end. */
import type { ModeChoice } from '../flags/task.ts';
import { counted, plot, table } from '../shell/terminal.ts';
import type { FleetTally } from './fleet.ts';
import type { DemoProgress, DemoResult } from './run-demo.ts';

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
    `accuracy ${percent(newestOf(versions))} of ${percent(goal.target)}   buffers ${versions.length - 1}   ${seconds.toFixed(0)} s${leftOf(progress, goal)}`,
    `updates ${updates} (${pace} a second)   dropped out ${tally.dropped}`,
  ].join('\n');
}

/** One line for each version, if the output is not a terminal. */
export function lineOf(progress: DemoProgress, goal: DemoGoal): string {
  const { versions, tally, seconds } = progress;
  const newest = versions.at(-1);
  return `version ${newest?.version}: accuracy ${percent(newestOf(versions))}, ${counted(newest?.accepted ?? 0, 'update')}, ${counted(tally.dropped, 'contribution')} dropped out so far, ${seconds.toFixed(1)} s${leftOf(progress, goal)}`;
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

/** The line of `--json`: {"paper": {...}, "oneShot": {...}}, or only the one that ran. */
export function jsonOf(results: readonly DemoResult[]): object {
  return Object.fromEntries(
    results.map((result) => [result.mode === 'paper' ? 'paper' : 'oneShot', resultJson(result)]),
  );
}

function resultJson(result: DemoResult): object {
  const { versions, tally } = result;
  const { ms, bytes, requests } = contributionOf(tally);
  return {
    accuracy: result.accuracy,
    plainAccuracy: result.plainAccuracy,
    largestDrop: largestDropOf(versions),
    buffers: versions.length - 1,
    seconds: result.seconds,
    msPerContribution: ms,
    bytesPerContribution: bytes,
    requestsPerContribution: requests,
    dropped: tally.dropped,
    accepted: versions.reduce((sum, { accepted }) => sum + accepted, 0),
    reached: result.ending === 'reached',
    accuracies: versions.map(({ accuracy }) => accuracy),
  };
}

export function summaryOf(result: DemoResult, { target, further }: DemoGoal): string {
  const { versions, tally, seconds } = result;
  const buffers = counted(versions.length - 1, 'buffer');
  const first = versions.findIndex(({ accuracy }) => accuracy >= target);
  const verdict =
    result.ending === 'reached'
      ? `Reached ${percent(target)} at buffer ${first}, then ran ${counted(further, 'more buffer')}: ${percent(result.accuracy)} after ${buffers} and ${seconds.toFixed(0)} s`
      : missOf(result, target);
  return [
    plot(
      versions.map(({ accuracy }) => accuracy),
      { mark: target, label: percent },
    ),
    verdict,
    `${counted(tally.dropped, 'contribution')} dropped out; every buffer still gave its sum.`,
  ].join('\n');
}

const TITLE: Readonly<Record<ModeChoice, string>> = { paper: 'paper (unsafe)', 'one-shot': 'one-shot' };

/** All runs, beside the same runs without security. */
export function comparisonOf(results: readonly DemoResult[]): string {
  const row = (title: string, cell: (result: DemoResult) => string): readonly string[] => [title, ...results.map(cell)];
  const costs = new Map(results.map((result) => [result, contributionOf(result.tally)]));
  const cost = (of: keyof Contribution) => (result: DemoResult) => (costs.get(result)?.[of] ?? 0).toFixed(0);
  return [
    '',
    table([
      row('', ({ mode }) => TITLE[mode]),
      row('accuracy', ({ accuracy }) => percent(accuracy)),
      row('accuracy of the same run without security', ({ plainAccuracy }) => percent(plainAccuracy)),
      row('largest drop below the best so far, points', ({ versions }) => largestDropOf(versions).toFixed(1)),
      row('buffers', ({ versions }) => String(versions.length - 1)),
      row('seconds', ({ seconds }) => seconds.toFixed(0)),
      row('milliseconds of a contribution', cost('ms')),
      row('bytes of a contribution, sent and received', cost('bytes')),
      row('requests of a contribution', cost('requests')),
      row('contributions that dropped out', ({ tally }) => String(tally.dropped)),
    ]),
    '',
    'A contribution is counted from the request for a position (paper) or from the masking (one-shot) to the acknowledgement of',
    'the upload. Its requests include the model and all questions whether there is a position or a place.',
    ...(results.some(({ mode }) => mode === 'paper')
      ? [
          "The paper's protocol is UNSAFE and ran only for comparison: its server can learn updates (docs/threat-model.md).",
        ]
      : []),
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

interface Contribution {
  readonly ms: number;
  readonly bytes: number;
  readonly requests: number;
}

/** Means over the accepted contributions. */
function contributionOf({ accepted, requests }: FleetTally): Contribution {
  const count = Math.max(1, accepted.length);
  const steps = accepted.flatMap(({ costs }) => Object.values(costs));
  return {
    ms: sum(steps.map(({ ms }) => ms)) / count,
    bytes: sum(steps.map(({ sent, received }) => sent + received)) / count,
    requests: requests / count,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
