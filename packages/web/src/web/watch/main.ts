/** The page "Watch": a task as its server tells it, live. */
import { element, make, say } from '../shared/dom.ts';
import { count, percent, plural } from '../shared/format.ts';
import { LinePlot } from '../shared/line-plot.ts';
import { type Watched, watchTask } from '../shared/live.ts';
import { addressOfTask, fragment, showLink, startPage } from '../shared/page.ts';
import { authoritiesOf, chosenTask, serverFacts, type TaskFacts } from '../shared/server-facts.ts';
import { drawBufferCard } from './buffer-card.ts';
import { drawCharts } from './charts.ts';
import { drawDeviceMetrics } from './device-metrics.ts';
import { watchIssueLogs } from './issue-log.ts';
import { type OperatorControls, operatorControls } from './operator.ts';

startPage();
const facts = await serverFacts();
const { settings, tasks } = facts;
const task = chosenTask(tasks, fragment().get('task'));
if (task === undefined) {
  element('no-task').hidden = false;
  element('watched').hidden = true;
} else {
  chooser(tasks, task.task);
  const { places, needed } = authoritiesOf(facts, task);
  watchIssueLogs(places, needed);
  const operator = operatorControls(task.task);
  if (settings.needsLogin && operator.token === undefined) refuse();
  else watch(task, operator);
}

function watch(chosen: TaskFacts, operator: OperatorControls): void {
  drawPrivacy(chosen);
  const plot = new LinePlot(element('accuracy-plot'), {
    x: 'time since the first version',
    y: 'accuracy',
    series: [
      { label: 'accuracy', colour: 'accent' },
      { label: 'target', colour: 'quiet', dash: [6, 4], isMark: true },
    ],
    range: [0, 1],
    formatY: (value) => `${Math.round(100 * value)} %`,
    isTime: true,
  });
  let state: Watched | undefined;
  const onState = (next: Watched): void => {
    state = next;
    drawAll(next, plot);
    drawDeviceMetrics(next);
    drawBufferCard(next);
    operator.show(next.state);
  };
  void watchTask(chosen.task, { onState, onLink: showLink, onRefused: operator.logOut }, operator.token);
  const redraw = (): void => {
    if (state !== undefined) drawBufferCard(state);
  };
  setInterval(redraw, 1000);
  element('buffers-more').addEventListener('toggle', redraw);
}

/** What the task promises each of its devices. */
function drawPrivacy({ privacy }: TaskFacts): void {
  element('privacy-figure').hidden = privacy === undefined;
  if (privacy === undefined) return;
  const { epsilon, delta, participations } = privacy;
  const times = plural(participations, 'participation', 'participations');
  say(element('privacy'), `epsilon ${epsilon.toFixed(1)} at delta ${delta}, ${times} a device`);
}

function refuse(): void {
  element('closed').hidden = false;
  element('watched').hidden = true;
  element<HTMLDetailsElement>('operator').open = true;
}

function chooser(known: readonly TaskFacts[], chosen: string): void {
  const select = element<HTMLSelectElement>('task');
  select.append(...known.map(({ task: name, name: text }) => make('option', { value: name }, text)));
  select.value = chosen;
  select.addEventListener('change', () => {
    location.hash = addressOfTask(select.value);
  });
}

function drawAll(state: Watched, plot: LinePlot): void {
  const { versions, mode, name, state: running, why, stop, startedAt } = state;
  const newest = versions.at(-1);
  const evaluated = versions.filter(({ accuracy }) => accuracy !== undefined);
  const began = versions[0]?.at ?? 0;
  plot.set(
    evaluated.map(({ at }) => (at - began) / 1000),
    evaluated.map(({ accuracy }) => accuracy ?? null),
    evaluated.map(() => stop.accuracy ?? null),
  );
  drawGoal(evaluated.at(-1)?.accuracy, stop);
  const accepted = versions.reduce((sum, version) => sum + version.accepted, 0);
  const dropped = versions.reduce((sum, version) => sum + version.dropped, 0);
  say(element('version'), newest === undefined ? '–' : count(newest.version));
  say(element('updates'), count(accepted));
  say(element('dropped'), count(dropped));
  const { places, used } = state.admission;
  say(element('places'), `${count(used)} of ${count(places)}`);
  say(element('mean-age'), newest?.meanAge === undefined ? '–' : newest.meanAge.toFixed(1));
  say(element('admission'), admissionOf(state));
  say(element('mode'), `${mode} mode, ${running}${why === undefined ? '' : `: ${why}`}`);
  say(element('summary'), summaryOf(name, state));
  say(element('started'), new Date(startedAt).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' }));
  drawCharts(state);
}

/** How far the model is, and when the task ends. */
function drawGoal(accuracy: number | undefined, { accuracy: wanted, version, afterMs }: Watched['stop']): void {
  say(element('accuracy'), accuracy === undefined ? '–' : percent(accuracy));
  const bar = element<HTMLProgressElement>('goal');
  bar.hidden = wanted === undefined;
  if (wanted !== undefined) bar.value = Math.min(1, (accuracy ?? 0) / wanted);
  const isReached = wanted !== undefined && accuracy !== undefined && accuracy >= wanted;
  const target =
    wanted === undefined ? 'no target: the task goes on' : `target ${percent(wanted)}${isReached ? ', reached' : ''}`;
  const ends = [
    version === undefined ? [] : [`version ${count(version)}`],
    afterMs === undefined ? [] : [`${count(afterMs / 60_000)} minutes`],
  ].flat();
  const examples = accuracy === undefined ? ' The server has no test examples, or no version is evaluated yet.' : '';
  const end = ends.length === 0 ? '' : `, ${wanted === undefined ? 'until' : 'or'} ${ends.join(' or ')}`;
  say(element('target'), `${target}${end}.${examples}`);
}

/** Who trains, who waits, and why nobody is let in. */
function admissionOf({ admission: { underWay, waiting, waitingBuffers } }: Watched): string {
  const train = plural(underWay, 'device trains', 'devices train');
  const wait = waiting === 0 ? 'nobody waits' : plural(waiting, 'waits', 'wait');
  const backlog =
    waitingBuffers === 0
      ? ''
      : `, ${plural(waitingBuffers, 'closed buffer waits', 'closed buffers wait')} to be opened`;
  return `Now ${train}, ${wait} for a place${backlog}.`;
}

/** One sentence for those who listen: it changes with versions, not with every slot. */
function summaryOf(name: string, { versions }: Watched): string {
  const newest = versions.at(-1);
  if (newest === undefined) return `Task ${name} waits for its first model.`;
  const accuracy = newest.accuracy === undefined ? '' : ` with an accuracy of ${percent(newest.accuracy)}`;
  return `Task ${name} is at version ${newest.version}${accuracy}.`;
}
