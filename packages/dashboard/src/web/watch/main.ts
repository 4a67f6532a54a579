/** The page "Watch": a task as its server tells it, live. */
import { drawBuffers } from '../shared/buffer-view.ts';
import { element, make, say } from '../shared/dom.ts';
import { count, percent } from '../shared/format.ts';
import { LinePlot } from '../shared/line-plot.ts';
import type { Watched } from '../shared/live.ts';
import { watchTask } from '../shared/live.ts';
import type { ServerFacts, TaskFacts } from '../shared/server-facts.ts';
import { chosenTask, fragment, serverFacts } from '../shared/server-facts.ts';
import { drawCharts } from './charts.ts';
import { watchIssueLog } from './issue-log.ts';

const facts = await serverFacts();
const task = chosenTask(facts.tasks, fragment().get('task'));
watchIssueLog(facts.settings.authority, facts.authorityKey);
if (task === undefined) say(element('summary'), 'This server has no task yet.');
else watch(facts, task);

function watch({ tasks }: ServerFacts, chosen: TaskFacts): void {
  chooser(tasks, chosen.task);
  const plot = new LinePlot(element('accuracy-plot'), {
    x: 'seconds',
    y: 'accuracy',
    series: [{ label: 'accuracy', colour: 'accent' }],
    formatY: percent,
  });
  let state: Watched | undefined;
  watchTask(chosen.task, {
    onState(next) {
      state = next;
      drawAll(next, plot);
      drawLive(next);
    },
    onLink: (isThere) => element('link').toggleAttribute('hidden', isThere),
  });
  setInterval(() => state !== undefined && drawLive(state), 1000);
}

function chooser(tasks: readonly TaskFacts[], chosen: string): void {
  const select = element<HTMLSelectElement>('task');
  select.append(...tasks.map(({ task: name, name: text }) => make('option', { value: name }, text)));
  select.value = chosen;
  select.addEventListener('change', () => {
    location.hash = `task=${select.value}`;
    location.reload();
  });
}

function drawAll(state: Watched, plot: LinePlot): void {
  const { versions, mode, name, state: running, why } = state;
  const newest = versions.at(-1);
  const evaluated = versions.filter(({ accuracy }) => accuracy !== undefined);
  const began = versions[0]?.at ?? 0;
  plot.set(
    evaluated.map(({ at }) => (at - began) / 1000),
    evaluated.map(({ accuracy }) => accuracy ?? null),
  );
  const accepted = versions.reduce((sum, version) => sum + version.accepted, 0);
  const dropped = versions.reduce((sum, version) => sum + version.dropped, 0);
  say(element('version'), newest === undefined ? '–' : String(newest.version));
  say(element('accuracy'), evaluated.length === 0 ? '–' : percent(evaluated.at(-1)?.accuracy ?? 0));
  say(element('updates'), count(accepted));
  say(element('dropped'), count(dropped));
  const { places, used } = state.admission;
  say(element('places'), `${count(used)} of ${count(places)}`);
  say(element('mean-age'), newest?.meanAge === undefined ? '–' : newest.meanAge.toFixed(1));
  say(element('admission'), admissionOf(state));
  say(element('mode'), `${mode} mode, ${running}${why === undefined ? '' : ` (${why})`}`);
  say(element('summary'), summaryOf(name, state));
  drawCharts(state);
}

/** Who trains, who waits, and why nobody is let in. */
function admissionOf({ admission: { underWay, waiting, waitingBuffers } }: Watched): string {
  const train = underWay === 1 ? '1 device trains' : `${count(underWay)} devices train`;
  const wait = waiting === 0 ? 'nobody waits for a place' : `${count(waiting)} wait for a place`;
  const backlog = waitingBuffers === 0 ? '' : `, ${count(waitingBuffers)} closed buffers wait to be opened`;
  return `Now ${train}, ${wait}${backlog}.`;
}

/** One sentence for those who listen: it changes with versions, not with every slot. */
function summaryOf(name: string, { versions }: Watched): string {
  const newest = versions.at(-1);
  if (newest === undefined) return `Task ${name} waits for its first model.`;
  const accuracy = newest.accuracy === undefined ? '' : ` with an accuracy of ${percent(newest.accuracy)}`;
  return `Task ${name} is at version ${newest.version}${accuracy}.`;
}

function drawLive({ buffers, aheadMs }: Watched): void {
  const now = Date.now() + aheadMs;
  const isLiving = (status: string): boolean => ['filling', 'frozen', 'granted'].includes(status);
  drawBuffers(
    element('living'),
    buffers.filter(({ status }) => isLiving(status)),
    () => ({ now }),
  );
  drawBuffers(element('ended'), buffers.filter(({ status }) => !isLiving(status)).slice(0, 4), () => ({ now }));
  element('no-buffer').toggleAttribute(
    'hidden',
    buffers.some(({ status }) => isLiving(status)),
  );
}
