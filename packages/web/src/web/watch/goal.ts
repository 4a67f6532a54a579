/** The accuracy of a task, the accuracy it aims at, and when it ends. */
import { element, say } from '../shared/dom.ts';
import { count, percent, plural } from '../shared/format.ts';
import { LinePlot } from '../shared/line-plot.ts';
import type { Watched } from '../shared/live.ts';

type Aim = Pick<Watched, 'stop' | 'target'>;

/** A task may end at an accuracy, or only aim at one. */
function aimOf({ stop, target }: Aim): number | undefined {
  return stop.accuracy ?? target;
}

/** Its line of the target is there only if the task has one. */
export class AccuracyPlot {
  #plot: LinePlot | undefined;

  set({ versions, ...aim }: Watched): void {
    const wanted = aimOf(aim);
    const evaluated = versions.filter(({ accuracy }) => accuracy !== undefined);
    const began = versions[0]?.at ?? 0;
    this.#plot ??= newPlot(wanted !== undefined);
    this.#plot.set(
      evaluated.map(({ at }) => (at - began) / 1000),
      evaluated.map(({ accuracy }) => accuracy ?? null),
      ...(wanted === undefined ? [] : [evaluated.map(() => wanted)]),
    );
  }
}

function newPlot(hasTarget: boolean): LinePlot {
  const target = { label: 'target', colour: 'quiet', dash: [6, 4], isMark: true };
  return new LinePlot(element('accuracy-plot'), {
    x: 'time since the first version',
    y: 'accuracy',
    series: [{ label: 'accuracy', colour: 'accent' }, ...(hasTarget ? [target] : [])],
    range: [0, 1],
    formatY: (value) => `${Math.round(100 * value)} %`,
    isTime: true,
  });
}

export function drawGoal(accuracy: number | undefined, aim: Aim): void {
  say(element('accuracy'), accuracy === undefined ? '–' : percent(accuracy));
  const wanted = aimOf(aim);
  const bar = element<HTMLProgressElement>('goal');
  bar.hidden = wanted === undefined;
  if (wanted !== undefined) bar.value = Math.min(1, (accuracy ?? 0) / wanted);
  const examples = accuracy === undefined ? ' The server has no test examples, or no version is evaluated yet.' : '';
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
