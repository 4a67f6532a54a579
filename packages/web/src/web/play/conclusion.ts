/** The result of a run, in a few sentences. */
import { count, percent, seconds } from '../shared/format.ts';
import type { Lane, LaneState } from './play-messages.ts';

export interface PlayedPoint extends Readonly<Record<Lane, LaneState>> {
  readonly time: number;
}

/** With fewer versions of the paper's mode a ratio means little. */
const MIN_VERSIONS = 5;

export function conclusionOf(points: readonly PlayedPoint[], devices: number): string {
  const last = points.at(-1);
  if (last === undefined || last.paper.versions < MIN_VERSIONS)
    return `Waiting until the paper’s protocol has made ${MIN_VERSIONS} versions.`;
  const { time, paper, oneShot } = last;
  return [
    `After ${seconds(time)} the same ${count(devices)} devices have made ${count(oneShot.versions)} versions in one-shot mode and ${count(paper.versions)} with the paper’s protocol: ${ratioText(oneShot.versions / paper.versions)}.`,
    `${count(paper.waiting)} of them have finished training and wait for their turn with the paper’s protocol, ${count(oneShot.waiting)} in one-shot mode.`,
    accuracyText(points, last),
  ].join(' ');
}

function ratioText(ratio: number): string {
  if (ratio < 0.95) return 'fewer';
  return ratio < 1.05 ? 'about as many' : `${ratio.toFixed(1)} times as many`;
}

/** The time at which one-shot mode was as good as the paper's is now, if it is ahead. */
function accuracyText(points: readonly PlayedPoint[], { paper, oneShot }: PlayedPoint): string {
  const both = `The model gets ${percent(oneShot.accuracy)} of the test digits right in one-shot mode and ${percent(paper.accuracy)} with the paper’s protocol`;
  const then = points.find((point) => point.oneShot.accuracy >= paper.accuracy);
  return oneShot.accuracy > paper.accuracy && then !== undefined
    ? `${both}; one-shot mode reached that accuracy after ${seconds(then.time)}.`
    : `${both}.`;
}
