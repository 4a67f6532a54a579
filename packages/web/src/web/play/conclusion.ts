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
  const { time, paper, sealed } = last;
  return [
    `After ${seconds(time)} the same ${count(devices)} devices have made ${count(sealed.versions)} versions in sealed mode and ${count(paper.versions)} with the paper’s protocol: ${ratioText(sealed.versions / paper.versions)}.`,
    `${count(paper.waiting)} of them have finished training and wait for their turn with the paper’s protocol, ${count(sealed.waiting)} in sealed mode.`,
    accuracyText(points, last),
  ].join(' ');
}

function ratioText(ratio: number): string {
  if (ratio < 0.95) return 'fewer';
  return ratio < 1.05 ? 'about as many' : `${ratio.toFixed(1)} times as many`;
}

/** The time at which sealed mode was as good as the paper's is now, if it is ahead. */
function accuracyText(points: readonly PlayedPoint[], { paper, sealed }: PlayedPoint): string {
  const both = `The model gets ${percent(sealed.accuracy)} of the test digits right in sealed mode and ${percent(paper.accuracy)} with the paper’s protocol`;
  const then = points.find((point) => point.sealed.accuracy >= paper.accuracy);
  return sealed.accuracy > paper.accuracy && then !== undefined
    ? `${both}; sealed mode reached that accuracy after ${seconds(then.time)}.`
    : `${both}.`;
}
