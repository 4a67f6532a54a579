/** The score of a task's newest version, its target, and the end of the task. */
import { type Scores, shownScore } from '@basa/protocol/http';
import { element, say } from '../shared/dom.ts';
import { count, plural } from '../shared/format.ts';
import { LinePlot } from '../shared/line-plot.ts';
import type { Watched } from '../shared/live.ts';
import { type ScoreAxis, scoreValue } from '../shared/score.ts';

type Aim = Pick<Watched, 'stop' | 'target'>;

/** A task may end at a score, or only aim at one. */
function aimOf({ stop, target }: Aim): number | undefined {
  return shownScore(stop)?.value ?? target;
}

/** The line of the target exists only if the task has one. */
export class ScorePlot {
  readonly #axis: ScoreAxis;
  #plot: LinePlot | undefined;

  constructor(axis: ScoreAxis) {
    this.#axis = axis;
  }

  set({ versions, ...aim }: Watched): void {
    const wanted = aimOf(aim);
    const evaluated = versions.filter((version) => shownScore(version) !== undefined);
    const began = versions[0]?.at ?? 0;
    this.#plot ??= newPlot(this.#axis, wanted !== undefined);
    this.#plot.set(
      evaluated.map(({ at }) => (at - began) / 1000),
      evaluated.map((version) => shownScore(version)?.value ?? null),
      ...(wanted === undefined ? [] : [evaluated.map(() => wanted)]),
    );
  }
}

function newPlot(axis: ScoreAxis, hasTarget: boolean): LinePlot {
  const target = { label: 'target', colour: 'quiet', dash: [6, 4], isMark: true };
  return new LinePlot(element('accuracy-plot'), {
    x: 'time since the first version',
    ...axis,
    series: [{ label: axis.y, colour: 'accent' }, ...(hasTarget ? [target] : [])],
    isTime: true,
  });
}

export function drawGoal(scores: Scores, aim: Aim): void {
  const score = shownScore(scores);
  say(element('accuracy'), scoreValue(score));
  const wanted = aimOf(aim);
  const bar = element<HTMLProgressElement>('goal');
  bar.hidden = wanted === undefined;
  if (wanted !== undefined) bar.value = Math.min(1, Math.max(0, score?.value ?? 0) / wanted);
  const examples = score === undefined ? ' The server has no test examples, or no version is evaluated yet.' : '';
  say(element('target'), goalText(scores, aim) + examples);
}

export function goalText(scores: Scores, aim: Aim): string {
  const wanted = aimOf(aim);
  const score = shownScore(scores);
  const isReached = wanted !== undefined && score !== undefined && score.value >= wanted;
  const name = score?.name ?? shownScore(aim.stop)?.name ?? 'accuracy';
  const target =
    wanted === undefined
      ? 'No target.'
      : `Target ${scoreValue({ name, value: wanted })}${isReached ? ', reached' : ''}.`;
  const { version, afterMs, ...end } = aim.stop;
  const ends = [
    ...(shownScore(end) === undefined ? [] : ['at the target']),
    ...(version === undefined ? [] : [`at version ${count(version)}`]),
    ...(afterMs === undefined ? [] : [`after ${plural(Math.round(afterMs / 60_000), 'minute')}`]),
  ];
  const last = ends.length === 0 ? 'when its operator finishes it' : ends.join(' or ');
  return `${target} The task ends ${last}.`;
}
