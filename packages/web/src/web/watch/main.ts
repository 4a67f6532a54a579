/** The page "Watch": a task as its server reports it, live. */
import { Live } from '@basa/protocol/http';
import { count } from '../shared/format.ts';
import { addressOfTask, element, fragment, make, SEALING_WORDS, say, showLink, startPage } from '../shared/page.ts';
import {
  authoritiesOf,
  chosenTask,
  isStatistics,
  noiseOf,
  scoreWords,
  sealingOf,
  serverFacts,
  type TaskFacts,
  type Watched,
  watchTask,
} from '../shared/state.ts';
import { watchAuthorities } from './authorities.ts';
import { drawBatchCard, drawCharts, drawDeviceMetrics, drawGoal, ScorePlot, workingText } from './figures.ts';
import { finishSignIn, type OperatorControls, offerSignIn, operatorControls } from './operator.ts';
import { drawStatistics, statusText } from './statistics.ts';

startPage();
const facts = await serverFacts();
await finishSignIn(facts.settings.signIn);
offerSignIn(facts.settings.signIn);
const { tasks } = facts;
const task = chosenTask(tasks, fragment().get('task'));
if (task === undefined) {
  element('no-task').hidden = false;
  element('watched').hidden = true;
} else {
  chooser(tasks, task.task);
  const { places, needed } = authoritiesOf(facts, task);
  watchAuthorities(task.task, places, needed);
  const operator = operatorControls(task.task);
  if (!task.publicModels && operator.token === undefined) refuse();
  else watch(task, operator);
}

function watch(chosen: TaskFacts, operator: OperatorControls): void {
  drawNoise(chosen);
  drawSealing(chosen);
  showKind(chosen);
  const plot = new ScorePlot(chosen);
  let state: Watched | undefined;
  const onState = (next: Watched): void => {
    state = next;
    plot.set(next);
    drawAll(next);
    drawDeviceMetrics(next);
    drawBatchCard(next);
    if (next.windows !== undefined) drawStatistics(next.windows);
    operator.show(next.state);
  };
  void watchTask(chosen.task, { onState, onLink: showLink, onRefused: operator.logOut }, operator.token);
  element('batches-more').addEventListener('toggle', () => state !== undefined && drawBatchCard(state));
}

/** A statistics task has windows with results instead of versions of a model. */
function showKind(chosen: TaskFacts): void {
  const kind = isStatistics(chosen) ? 'statistics' : 'training';
  for (const part of document.querySelectorAll<HTMLElement>('[data-for]')) part.hidden = part.dataset['for'] !== kind;
}

/** The noise of the sums, and what it hides. */
function drawNoise(chosen: TaskFacts): void {
  const { kind, sentence } = noiseOf(chosen);
  say(element('noise-kind'), kind);
  say(element('noise'), `Sums have ${sentence}.`);
}

function drawSealing(chosen: TaskFacts): void {
  const sealing = sealingOf(chosen);
  element('sealing-figure').hidden = sealing === undefined;
  if (sealing !== undefined) say(element('sealing'), SEALING_WORDS[sealing].name);
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
  element('all-tasks').hidden = known.length < 2;
  element('tasks').append(
    ...known.map(({ task: name, name: text, state, version }) =>
      make('li', {}, make('a', { href: addressOfTask(name) }, text), stateText(state, version)),
    ),
  );
  select.addEventListener('change', () => {
    location.hash = addressOfTask(select.value);
  });
}

function stateText(state: string, version: number | undefined): string {
  return `: ${state}${version === undefined ? '' : `, version ${count(version)}`}`;
}

function drawAll(state: Watched): void {
  const { versions, mode, name, state: running, why, startedAt } = state;
  const newest = versions.at(-1);
  const evaluated = versions.filter((version) => Live.shownScore(version) !== undefined);
  drawGoal(evaluated.at(-1) ?? {}, state);
  const accepted = versions.reduce((sum, version) => sum + version.accepted, 0);
  say(element('version'), newest === undefined ? '–' : count(newest.version));
  say(element('updates'), count(accepted));
  const { places, used } = state.admission;
  say(element('places'), `${count(used)} of ${count(places)}`);
  say(element('mean-age'), newest?.meanAge === undefined ? '–' : newest.meanAge.toFixed(1));
  say(element('mode'), `${mode} mode, ${running}${why === undefined ? '' : `: ${why}`}`);
  const { isWorking, text } = workingText(state);
  say(element('working'), text);
  element('working-card').dataset['working'] = String(isWorking);
  say(element('summary'), summaryOf(name, state));
  say(element('started'), new Date(startedAt).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' }));
  drawCharts(state);
}

/** One sentence for screen readers: it changes with versions, not with every upload. */
function summaryOf(name: string, { versions, windows }: Watched): string {
  const newest = versions.at(-1);
  if (windows !== undefined) return `Task ${name}: ${statusText(windows)}`;
  if (newest === undefined) return `Task ${name} is waiting for its first model.`;
  const score = Live.shownScore(newest);
  return `Task ${name} is at version ${newest.version}${score === undefined ? '' : ` with ${scoreWords(score)}`}.`;
}
