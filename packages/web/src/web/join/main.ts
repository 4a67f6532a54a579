/** The page "Join from this tab": choices on one side of a worker, the device on the other. */
import { toHex } from '@basa/masking';
import { gatheringText, Live } from '@basa/protocol/http';
import { LinePlot } from '../shared/line-plot.ts';
import { drawBatches, element, fragment, make, SEALING_WORDS, say, showLink, startPage } from '../shared/page.ts';
import {
  authoritiesOf,
  chosenTask,
  gatheringOf,
  isStatistics,
  lossOf,
  noiseOf,
  type ServerFacts,
  scoreAxis,
  scoreWords,
  sealingOf,
  serverFacts,
  type TaskFacts,
  type Watched,
  watchTask,
} from '../shared/state.ts';
import type { DeviceData, FromDevice, ToDevice } from './device-messages.ts';
import { clearError, type OwnPlace, showCosts, showError, showNews, status } from './device-view.ts';
import { addPictures, Enrolment, NO_PICTURES, type OwnPictures, watchPauses } from './owner.ts';
import { drawExample } from './update-view.ts';

const NOT_HERE = 'This server does not have the task in your link. Ask the operator of the task for another link.';
const NOTHING_TO_TRAIN =
  'This task gathers statistics, so there is nothing to train here: applications report their values to it, and Watch shows the results.';
const PAPER = 'paper';
const asked = fragment();
const own: OwnPlace = { ctx: undefined };
let pictures: OwnPictures = NO_PICTURES;
let device: Worker | undefined;

const tell = (message: ToDevice): void => device?.postMessage(message);
const pauses = watchPauses({
  onChange(isResting, why) {
    tell({ kind: isResting ? 'pause' : 'go' });
    if (isResting || device !== undefined) status(isResting ? why : 'going on', true);
  },
});

startPage();
drawExample();
showCosts({});
const facts = await serverFacts();
const pinned = asked.get('task');
// A task that the link pins is used or no task at all: the server does not choose another.
const task = pinned === null ? chosenTask(facts.tasks, null) : facts.tasks.find((one) => one.task === pinned);
if (task === undefined) refuse(pinned === null ? undefined : NOT_HERE);
else if (isStatistics(task)) refuse(NOTHING_TO_TRAIN);
else offer(facts, task);

/** By default, the page says that the server has no task. */
function refuse(why: string | undefined): void {
  if (why !== undefined) say(element('no-task'), why);
  element('no-task').hidden = false;
}

function offer(server: ServerFacts, chosen: TaskFacts): void {
  say(element('task-name'), chosen.name);
  if (chosen.mode === PAPER) sayPaper();
  const { places, needed } = authoritiesOf(server, chosen);
  const [keys, them] =
    places.length === 1
      ? ['the key of the authority', 'it']
      : [`the keys of ${places.length} authorities, of which ${needed} are needed`, 'them'];
  say(
    element('pins'),
    asked.has('authorityKey')
      ? `Your link pinned the task and ${keys}.`
      : `This server named ${keys}. A link from your operator would pin ${them}.`,
  );
  const sealing = sealingOf(chosen);
  if (sealing !== undefined) say(element('sealing'), SEALING_WORDS[sealing].sentence);
  const noise = noiseOf(chosen);
  say(element('noise'), `The sums of this task have ${noise.sentence}.`);
  const mustAsk = chosen.mode === PAPER || noise.kind === 'none';
  if (mustAsk && chosen.mode !== PAPER) sayExact();
  const shares = element<HTMLSelectElement>('share');
  shares.append(...server.settings.shares.map((address, n) => make('option', { value: address }, `share ${n + 1}`)));
  const preferred = Number(asked.get('share') ?? Math.floor(Math.random() * server.settings.shares.length));
  shares.selectedIndex = Math.min(preferred, shares.options.length - 1);
  const { handsOutTokens } = server.settings;
  const enrolment = new Enrolment({ task: chosen.task, linkToken: asked.get('token'), handsOutTokens });
  if (chosen.publicModels) show(chosen);
  else element('no-stream').hidden = false;
  wire(server, chosen, enrolment);
  // Who joined here before has agreed to sums without noise.
  const isAgreed = !mustAsk || (chosen.mode !== PAPER && enrolment.isKnown);
  if (asked.has('now') && isAgreed) void join(server, chosen, enrolment);
}

/** The unsafe mode of the paper has a name on this page, and a tab joins it only by its button. */
function sayPaper(): void {
  element('paper-note').hidden = false;
  say(element('join'), 'Join in unsafe paper mode');
  say(element('sum-title'), 'The model');
  say(element('no-batch'), 'In paper mode, devices take the positions of one buffer in turn.');
  say(element('steps-note'), 'Time and traffic of each step of the last contribution.');
}

/** A tab joins a task without noise only by its button. */
function sayExact(): void {
  element('exact-note').hidden = false;
  say(element('join'), 'Join without noise');
}

/** Shows the batches and versions of the task, for as long as the page is open. */
function show(chosen: TaskFacts): void {
  let plot: LinePlot | undefined;
  void watchTask(chosen.task, {
    onState(next) {
      const known = next.versions.filter((version) => Live.shownScore(version) !== undefined);
      if (known.length > 0) plot ??= newPlot(chosen, known);
      plot?.set(
        known.map(({ version }) => version),
        known.map((version) => Live.shownScore(version)?.value ?? null),
      );
      say(element('newest'), newestText(next));
      draw(next);
    },
    onLink: showLink,
    onRefused() {
      element('no-stream').hidden = false;
    },
  });
}

function newPlot(chosen: TaskFacts, versions: readonly Live.LiveVersion[]): LinePlot {
  const axis = scoreAxis(chosen, versions);
  const series = [{ label: axis.y, colour: 'accent' }];
  return new LinePlot(element('accuracy-plot'), { x: 'version', ...axis, series, height: 180 });
}

/** The newest version, and what the next one lacks. */
function newestText(state: Watched): string {
  const newest = state.versions.at(-1);
  if (newest === undefined) return '';
  const [score, lacks] = [Live.shownScore(newest), gatheringOf(state)];
  const evaluated = score === undefined ? '' : `, ${scoreWords(score)}`;
  return `version ${newest.version}${evaluated}${lacks === undefined ? '' : `. The server has ${gatheringText(lacks)}.`}`;
}

/** Draws the batch of this tab, or the filling batch. If no batch is filling, draws the batch that was opened or ended last. */
function draw({ batches }: Watched): void {
  const mine =
    batches.find(({ ctx }) => ctx === own.ctx) ?? batches.find(({ status: now }) => now === 'filling') ?? batches[0];
  element('no-batch').hidden = mine !== undefined;
  drawBatches(element('own-batch'), mine === undefined ? [] : [mine]);
}

function wire(server: ServerFacts, chosen: TaskFacts, enrolment: Enrolment): void {
  const pause = element<HTMLButtonElement>('pause');
  const start = element<HTMLButtonElement>('join');
  start.addEventListener('click', () => void join(server, chosen, enrolment));
  start.disabled = false; // a click before this would be lost
  pause.addEventListener('click', () => {
    const isPaused = pause.getAttribute('aria-pressed') !== 'true';
    pause.setAttribute('aria-pressed', String(isPaused));
    say(pause, isPaused ? 'Resume' : 'Pause');
    pauses.want(isPaused);
  });
  element('leave').addEventListener('click', () => tell({ kind: 'leave' }));
  const hidden = element<HTMLInputElement>('when-hidden');
  hidden.addEventListener('change', () => pauses.whenHidden(hidden.checked));
  element<HTMLInputElement>('pictures').addEventListener('change', async ({ target }) => {
    const { files } = target as HTMLInputElement;
    const label = Number(element<HTMLSelectElement>('label').value);
    pictures = await addPictures(pictures, files ?? [], { label, ...inputOf(chosen) });
    say(element('picture-count'), `using ${pictures.labels.length} of your own pictures`);
  });
}

/** The input size of the network; 28 x 28 if the task does not give it. */
function inputOf({ model }: TaskFacts): { readonly width: number; readonly height: number } {
  const { input } = (model ?? {}) as { readonly input?: { readonly width: number; readonly height: number } };
  return { width: input?.width ?? 28, height: input?.height ?? 28 };
}

async function join(server: ServerFacts, chosen: TaskFacts, enrolment: Enrolment): Promise<void> {
  clearError();
  setRunning(true);
  const { places } = authoritiesOf(server, chosen);
  const admittance = await enrolment.admittance();
  if (admittance.kind === 'missing') {
    setRunning(false);
    enrolment.ask();
    return showError(admittance.sentence);
  }
  const { token } = admittance;
  const data: DeviceData =
    pictures.labels.length > 0
      ? { kind: 'own', ...pictures }
      : { kind: 'share', address: element<HTMLSelectElement>('share').value };
  const [pieces, rounds] = [asked.get('pieceBytes'), asked.get('rounds')];
  device = new Worker('/device-worker.js', { type: 'module' });
  device.addEventListener('message', ({ data: news }: MessageEvent<FromDevice>) => hear(news, enrolment));
  device.addEventListener('error', ({ message }) => showError(`The worker failed: ${message}. Reload the page.`));
  void navigator.storage?.persist?.();
  tell({
    kind: 'join',
    settings: {
      server: location.origin,
      authority: places.map(({ url }) => url).join(','),
      authorityKey: asked.get('authorityKey') ?? places.map(({ key }) => toHex(key)).join(','),
      task: chosen.task,
      ...(token !== undefined && { token }),
      ...(pieces !== null && { pieceBytes: Number(pieces) }),
    },
    hints: { model: chosen.model, loss: lossOf(chosen) },
    data,
    isPaper: chosen.mode === PAPER,
    noNoise: noiseOf(chosen).kind === 'none',
    ...(rounds !== null && { rounds: Number(rounds) }),
  });
  if (pauses.isResting) tell({ kind: 'pause' });
  status('loading the cryptography and the trainer', true);
}

function hear(news: FromDevice, enrolment: Enrolment): void {
  showNews(news, own);
  if (news.kind === 'connected') enrolment.succeeded();
  if (news.kind !== 'left' && news.kind !== 'failed') return;
  device?.terminate();
  device = undefined;
  setRunning(false);
  if (news.kind === 'failed' && news.code === 'enrolment-token-invalid') enrolment.failed();
}

function setRunning(isRunning: boolean): void {
  element<HTMLButtonElement>('join').disabled = isRunning;
  element<HTMLButtonElement>('pause').disabled = !isRunning;
  element<HTMLButtonElement>('leave').disabled = !isRunning;
  for (const fields of ['data', 'enrolment']) element<HTMLFieldSetElement>(fields).disabled = isRunning;
}
