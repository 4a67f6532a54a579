/** The score of a task (accuracy, or R2 of numbers), the accuracy it aims at, and when it ends. */
import { type Scores, shownScore } from '@basa/protocol';
import { element, say } from '../shared/dom.ts';
import { count, percent, plural } from '../shared/format.ts';
import { LinePlot } from '../shared/line-plot.ts';
import type { Watched } from '../shared/live.ts';
import { scoreAxis, scoreWords } from '../shared/score.ts';
import type { TaskFacts } from '../shared/server-facts.ts';

type Aim = Pick<Watched, 'stop' | 'target'>;

/** A task may end at an accuracy, or only aim at one. */
function aimOf({ stop, target }: Aim): number | undefined {
  return stop.accuracy ?? target;
}

/** Its line of the target is there only if the task has one. */
export class ScorePlot {
  readonly #task: TaskFacts;
  #plot: LinePlot | undefined;

  constructor(task: TaskFacts) {
    this.#task = task;
  }

  set({ versions, ...aim }: Watched): void {
    const wanted = aimOf(aim);
    const evaluated = versions.filter((version) => shownScore(version) !== undefined);
    const began = versions[0]?.at ?? 0;
    this.#plot ??= newPlot(this.#task, wanted !== undefined);
    this.#plot.set(
      evaluated.map(({ at }) => (at - began) / 1000),
      evaluated.map((version) => shownScore(version)?.value ?? null),
      ...(wanted === undefined ? [] : [evaluated.map(() => wanted)]),
    );
  }
}

function newPlot(task: TaskFacts, hasTarget: boolean): LinePlot {
  const axis = scoreAxis(task);
  say(element('score-title'), axis.y === 'accuracy' ? 'Accuracy' : axis.y);
  const target = { label: 'target', colour: 'quiet', dash: [6, 4], isMark: true };
  return new LinePlot(element('accuracy-plot'), {
    ...axis,
    x: 'time since the first version',
    series: [{ label: axis.y, colour: 'accent' }, ...(hasTarget ? [target] : [])],
    isTime: true,
  });
}

export function drawGoal(scores: Scores, aim: Aim): void {
  const { accuracy } = scores;
  say(element('accuracy'), scoreWords(scores));
  const wanted = aimOf(aim);
  const bar = element<HTMLProgressElement>('goal');
  bar.hidden = wanted === undefined;
  if (wanted !== undefined) bar.value = Math.min(1, (accuracy ?? 0) / wanted);
  const examples =
    shownScore(scores) === undefined ? ' The server has no test examples, or no version is evaluated yet.' : '';
  say(element('target'), goalText(accuracy, aim) + examples);
}

export function goalText(accuracy: number | undefined, aim: Aim): string {
  const wanted = aimOf(aim);
  const isReached = wanted !== undefined && accuracy !== undefined && accuracy >= wanted;
  const target = wanted === undefined ? 'No target.' : `Target ${percent(wanted)}${isReached ? ', reached' : ''}.`;
  const { accuracy: end, version, afterMs } = aim.stop;
  const ends = [
    ...(end === undefined ? [] : ['at the target']),
    ...(version === undefined ? [] : [`at version ${count(version)}`]),
    ...(afterMs === undefined ? [] : [`after ${plural(Math.round(afterMs / 60_000), 'minute')}`]),
  ];
  const last = ends.length === 0 ? 'when its operator ends it' : ends.join(' or ');
  return `${target} The task ends ${last}.`;
}
