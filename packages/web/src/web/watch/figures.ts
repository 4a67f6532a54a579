/** The state of a task in figures: its score and goal, whether it gets on, its batches, the server's counters, the metrics of its devices. */
import { gatheringText, Live } from '@basa/protocol/http';
import { bytes, count, digits, milliseconds, plural } from '../shared/format.ts';
import { LinePlot } from '../shared/line-plot.ts';
import { drawBars, drawBatches, element, make, say } from '../shared/page.ts';
import { gatheringOf, scoreAxis, scoreValue, type TaskFacts, type Watched } from '../shared/state.ts';

type Aim = Pick<Watched, 'stop' | 'target'>;

/** A task may end at a score, or only aim at one. */
function aimOf({ stop, target }: Aim): number | undefined {
  return Live.shownScore(stop)?.value ?? target;
}

/** Drawn from the first score on, which has the name of its axis. The line of the target exists only if the task has one. */
export class ScorePlot {
  readonly #task: TaskFacts;
  #plot: LinePlot | undefined;

  constructor(task: TaskFacts) {
    this.#task = task;
  }

  set({ versions, ...aim }: Watched): void {
    const wanted = aimOf(aim);
    const evaluated = versions.filter((version) => Live.shownScore(version) !== undefined);
    const began = versions[0]?.at ?? 0;
    const axis = scoreAxis(this.#task, evaluated);
    say(element('score-name'), axis.y[0]?.toUpperCase() + axis.y.slice(1));
    if (evaluated.length === 0) return;
    this.#plot ??= newPlot(axis, wanted !== undefined);
    this.#plot.set(
      evaluated.map(({ at }) => (at - began) / 1000),
      evaluated.map((version) => Live.shownScore(version)?.value ?? null),
      ...(wanted === undefined ? [] : [evaluated.map(() => wanted)]),
    );
  }
}

function newPlot(axis: ReturnType<typeof scoreAxis>, hasTarget: boolean): LinePlot {
  const target = { label: 'target', colour: 'quiet', dash: [6, 4], isMark: true };
  return new LinePlot(element('accuracy-plot'), {
    x: 'time since the first version',
    ...axis,
    series: [{ label: axis.y, colour: 'accent' }, ...(hasTarget ? [target] : [])],
    isTime: true,
  });
}

export function drawGoal(scores: Live.VersionScores, aim: Aim): void {
  const score = Live.shownScore(scores);
  say(element('accuracy'), scoreValue(score));
  const wanted = aimOf(aim);
  const bar = element<HTMLProgressElement>('goal');
  bar.hidden = wanted === undefined;
  if (wanted !== undefined) bar.value = Math.min(1, Math.max(0, score?.value ?? 0) / wanted);
  const examples = score === undefined ? ' The server has no test examples, or no version is evaluated yet.' : '';
  say(element('target'), goalText(scores, aim) + examples);
}

export function goalText(scores: Live.VersionScores, aim: Aim): string {
  const wanted = aimOf(aim);
  const score = Live.shownScore(scores);
  const isReached = wanted !== undefined && score !== undefined && score.value >= wanted;
  const name = score?.name ?? Live.shownScore(aim.stop)?.name ?? 'accuracy';
  const target =
    wanted === undefined
      ? 'No target.'
      : `Target ${scoreValue({ name, value: wanted })}${isReached ? ', reached' : ''}.`;
  const { version, afterMs, ...end } = aim.stop;
  const ends = [
    ...(Live.shownScore(end) === undefined ? [] : ['at the target']),
    ...(version === undefined ? [] : [`at version ${count(version)}`]),
    ...(afterMs === undefined ? [] : [`after ${plural(Math.round(afterMs / 60_000), 'minute')}`]),
  ];
  const last = ends.length === 0 ? 'when its operator finishes it' : ends.join(' or ');
  return `${target} The task ends ${last}.`;
}

const MAX_ENDED = 4;
/** The server's code for "wait and ask again". */
const QUEUED = 'no-place';

export function drawBatchCard(state: Watched): void {
  // In paper mode, devices take the positions of one buffer in turn, and ask for no places. Reports need none.
  element('batches-card').hidden = state.mode === 'paper' || state.windows !== undefined;
  const { batches } = state;
  const living = batches.filter(isLiving);
  say(element('batches-line'), batchLine(living));
  say(element('queue'), queueText(state));
  say(element('totals'), totalsText(state));
  if (!element<HTMLDetailsElement>('batches-more').open) return;
  const ended = batches.filter((batch) => !isLiving(batch)).slice(0, MAX_ENDED);
  drawBatches(element('living'), living);
  drawBatches(element('ended'), ended);
  element('no-batch').toggleAttribute('hidden', living.length > 0);
}

/** The server lists them from the oldest on. */
export function batchLine(living: readonly Live.LiveBatch[]): string {
  const open = living.filter(({ status }) => status === 'filling');
  const closed = living.length - open.length;
  const [oldest] = open;
  const first =
    oldest === undefined
      ? 'No batch is open'
      : `${plural(open.length, 'open batch', 'open batches')}, ${open.length === 1 ? '' : 'the oldest '}with ${count(oldest.accepted)} of ${count(oldest.bufferSize)} updates`;
  return closed === 0 ? first : `${first}; ${plural(closed, 'is', 'are')} being opened`;
}

/** Devices that train, devices that wait, and sums that are late. */
export function queueText({ admission, refusals }: Pick<Watched, 'admission' | 'refusals'>): string {
  const { underWay, waiting, waitingBatches } = admission;
  const backlog =
    waitingBatches === 0 ? '' : ` ${plural(waitingBatches, 'closed batch waits', 'closed batches wait')} to be opened.`;
  const turns = refusals[QUEUED] ?? 0;
  const queued =
    turns === 0
      ? ''
      : ` Since the server started, devices were asked ${plural(turns, 'time', 'times')} to wait for a place; they ask again by themselves.`;
  const now = `${underWay === 0 ? 'No device is training' : plural(underWay, 'device is training', 'devices are training')}, and ${waiting === 0 ? 'none is waiting' : plural(waiting, 'is waiting', 'are waiting')} for a place.`;
  return `${now}${backlog}${queued}`;
}

/** Explains two limits that look alike: places are for devices that train, a batch is for finished updates. */
export function totalsText({ admission, batches }: Pick<Watched, 'admission' | 'batches'>): string {
  const { places, used } = admission;
  const train = `${count(used)} of ${count(places)} places are taken: a device needs one to train, and may keep it until its update is in a sum.`;
  const size = batches[0]?.bufferSize;
  return size === undefined ? train : `${train} A batch collects finished updates, up to ${count(size)} for one sum.`;
}

function isLiving({ status }: Live.LiveBatch): boolean {
  return ['filling', 'frozen', 'granted', 'opened'].includes(status);
}

const STEP_TEXT: Readonly<Record<string, string>> = { model: 'fetch the model', upload: 'upload' };

export function drawCharts({ steps, refusals, fetches, versions }: Live.LiveState): void {
  const used = Live.LIVE_STEPS.filter((step) => steps[step].answers > 0);
  drawBars(
    element('step-ms'),
    used.map((step) => {
      const { answers, ms } = steps[step];
      return {
        label: STEP_TEXT[step] ?? step,
        value: ms / answers,
        text: `${milliseconds(ms / answers)} × ${count(answers)}`,
      };
    }),
    'no requests since then',
  );
  drawBars(
    element('step-bytes'),
    used.map((step) => {
      const { answers, received, sent } = steps[step];
      const text = `${bytes(received / answers)} in, ${bytes(sent / answers)} out`;
      return { label: STEP_TEXT[step] ?? step, value: (received + sent) / answers, text };
    }),
    'no requests since then',
  );
  drawBars(
    element('refusals'),
    Object.entries(refusals)
      .filter(([reason]) => reason !== QUEUED)
      .map(([reason, times]) => ({ label: reason, value: times, text: count(times) })),
    'nothing since then',
  );
  drawBars(
    element('ages'),
    versions
      .flatMap(({ version, meanAge }) => (meanAge === undefined ? [] : [{ version, meanAge }]))
      .slice(-8)
      .map(({ version, meanAge }) => ({ label: `version ${version}`, value: meanAge, text: meanAge.toFixed(2) })),
    'no sum is open yet',
  );
  drawBars(
    element('fetches'),
    fetches.slice(-8).map(([version, times]) => ({ label: `version ${version}`, value: times, text: count(times) })),
    'none since then',
  );
}

/** One plot for each metric, made when its first mean arrives. */
const plots = new Map<string, LinePlot>();

export function drawDeviceMetrics({ versions }: Watched): void {
  const told = versions.flatMap(({ at, metrics }) => (metrics === undefined ? [] : [{ at, metrics }]));
  const newest = told.at(-1)?.metrics;
  element('device-metrics').hidden = newest === undefined;
  if (newest === undefined) return;
  const began = versions[0]?.at ?? 0;
  for (const name of Object.keys(newest)) {
    plotOf(name).set(
      told.map(({ at }) => (at - began) / 1000),
      told.map(({ metrics }) => metrics[name] ?? null),
    );
  }
  const means = Object.entries(newest).map(([name, value]) => `${name} ${digits(value)}`);
  say(
    element('device-means'),
    `Means over the devices in the newest version: ${means.join(', ')}. The server saw only sums, no single value.`,
  );
}

function plotOf(name: string): LinePlot {
  const known = plots.get(name);
  if (known !== undefined) return known;
  const place = make('div', {
    class: 'plot',
    role: 'img',
    'aria-label': `mean of ${name} over the devices, over time`,
  });
  element('device-plots').append(place);
  const plot = new LinePlot(place, {
    x: 'time since the first version',
    y: name,
    series: [{ label: `${name} of the devices`, colour: 'accent' }],
    isTime: true,
    height: 180,
  });
  plots.set(name, plot);
  return plot;
}

export type Progress = Pick<
  Live.LiveState,
  'admission' | 'batches' | 'mode' | 'state' | 'versions' | 'why' | 'windows'
>;

export function workingText(task: Progress): { readonly isWorking: boolean; readonly text: string } {
  const { admission, mode, state, versions, why, windows } = task;
  const reason = why === undefined ? '' : `: ${why}`;
  if (state === 'finished') return { isWorking: true, text: `The task is finished${reason}.` };
  if (state !== 'running')
    return { isWorking: false, text: `No: the task is ${state}${reason}. Its operator can resume it.` };
  const newest = versions.at(-1)?.version;
  // Positions and reports need no places.
  if (windows !== undefined || mode === 'paper') return { isWorking: true, text: 'Yes: the task is running.' };
  if (newest === undefined) return { isWorking: false, text: 'Not yet: the task is waiting for its first model.' };
  const { underWay, waitingBatches } = admission;
  if (waitingBatches > 0)
    return { isWorking: true, text: `Yes: ${plural(waitingBatches, 'batch is', 'batches are')} being opened.` };
  const gathering = gatheringOf(task);
  const lacks = gathering === undefined ? '' : gatheringText(gathering);
  const training = plural(underWay, 'device is training', 'devices are training');
  if (underWay > 0) return { isWorking: true, text: `Yes: ${training}${lacks === '' ? '' : `; ${lacks}`}.` };
  if (lacks !== '') return { isWorking: false, text: `It is waiting for devices: ${lacks}.` };
  return { isWorking: false, text: `It is waiting for devices: none is training for version ${newest + 1}.` };
}
