/** The page "Play the paper": sliders, two lanes, their effect on the model, and the conclusion. */
import { count, milliseconds, percent } from '../shared/format.ts';
import { LinePlot } from '../shared/line-plot.ts';
import { drawBars, element, make, say, startPage } from '../shared/page.ts';
import { conclusionOf, type PlayedPoint } from './conclusion.ts';
import type { FromPlay, Lane, LaneState, PlaySettings, ToPlay } from './play-messages.ts';

const SLIDERS = {
  k: (value: number) => `${value} updates`,
  beta: (value: number) => `${value} s`,
  concurrency: (value: number) => `${value} devices`,
  dropouts: (value: number) => `${value} %`,
  lease: (value: number) => `${value} s`,
  speed: (value: number) => `${value} × real time`,
} as const;
type Slider = keyof typeof SLIDERS;
const SLIDER_NAMES = Object.keys(SLIDERS) as readonly Slider[];
const MAX_POINTS = 600;
const MAX_BARS = 9;
const worker = new Worker('/play-worker.js', { type: 'module' });
const series = [
  { label: 'one-shot', colour: 'one-shot' },
  { label: 'paper', colour: 'turns', dash: [6, 4] },
];
const LANES = ['paper', 'oneShot'] as const;
for (const lane of LANES) {
  element(lane).append(element<HTMLTemplateElement>('lane').content.cloneNode(true));
  say(place(lane, 'caption'), `Staleness of updates, ${place(lane, 'h2').textContent}`);
}
startPage();
const versionsPlot = new LinePlot(element('versions-plot'), {
  x: 'virtual time',
  y: 'versions',
  series,
  formatY: count,
  isTime: true,
});
const accuracyPlot = new LinePlot(element('accuracy-plot'), {
  x: 'virtual time',
  y: 'accuracy',
  series,
  range: [0, 1],
  formatY: (share) => `${Math.round(100 * share)} %`,
  isTime: true,
});
const points: PlayedPoint[] = [];
let isRunning = true;

const tell = (message: ToPlay): void => worker.postMessage(message);
const ms = (seconds: number): string => milliseconds(1000 * seconds);
const value = (name: Slider): number => element<HTMLInputElement>(name).valueAsNumber;

worker.addEventListener('message', ({ data }: MessageEvent<FromPlay>) => {
  if (data.kind === 'state') return draw(data.time, data.lanes);
  const { paper, oneShot } = data.prices;
  say(
    element('prices'),
    `Measured in this tab: the paper’s encryption (CP-ABE) takes ${ms(paper.sealSeconds)} to encrypt a seed, ${ms(paper.openSeconds)} to decrypt one and ${ms(paper.issueSeconds)} to issue a key; X25519 in one-shot mode takes ${ms(oneShot.sealSeconds)} to encrypt a seed and ${ms(oneShot.openSeconds)} to decrypt one. Training takes 1 s.`,
  );
});

for (const name of SLIDER_NAMES) {
  element<HTMLInputElement>(name).addEventListener('input', () => {
    if (name === 'speed') setSpeed();
    else start();
    showValues();
  });
}
element('again').addEventListener('click', start);
element('run').addEventListener('click', () => {
  isRunning = !isRunning;
  say(element('run'), isRunning ? 'Pause' : 'Resume');
  setSpeed();
});
showValues();
start();

function start(): void {
  points.length = 0;
  const settings: PlaySettings = {
    bufferSize: value('k'),
    betaSeconds: value('beta'),
    concurrency: value('concurrency'),
    dropouts: value('dropouts') / 100,
    leaseSeconds: value('lease'),
  };
  for (const lane of LANES) {
    const cells = Array.from({ length: settings.bufferSize }, () =>
      make('li', { class: 'cell', 'data-status': 'free' }),
    );
    place(lane, '.cells').replaceChildren(...cells);
  }
  tell({ kind: 'start', settings });
  setSpeed();
}

function setSpeed(): void {
  tell({ kind: 'speed', virtualSecondsPerSecond: isRunning ? value('speed') : 0 });
}

function showValues(): void {
  for (const output of document.querySelectorAll('output')) {
    const name = output.htmlFor.value as Slider;
    const text = SLIDERS[name](value(name));
    say(output, text);
    element(name).setAttribute('aria-valuetext', text);
  }
}

function place(lane: Lane, selector: string): HTMLElement {
  return element(lane).querySelector(selector) as HTMLElement;
}

function draw(time: number, lanes: Readonly<Record<Lane, LaneState>>): void {
  drawLane('paper', time, lanes.paper);
  drawLane('oneShot', time, lanes.oneShot);
  points.push({ time, ...lanes });
  // Drops every other point when there are too many: the whole run stays in view.
  if (points.length > MAX_POINTS) points.splice(0, points.length, ...points.filter((_, n) => n % 2 === 0));
  for (const [plot, of] of [
    [versionsPlot, ({ versions }: LaneState) => versions],
    [accuracyPlot, ({ accuracy }: LaneState) => accuracy],
  ] as const) {
    plot.set(
      points.map((point) => point.time),
      points.map((point) => of(point.oneShot)),
      points.map((point) => of(point.paper)),
    );
  }
  say(element('verdict'), conclusionOf(points, value('concurrency')));
}

function drawLane(lane: Lane, time: number, state: LaneState): void {
  const { versions, filled, waiting, dropped, staleness, accuracy } = state;
  say(place(lane, '.accuracy'), percent(accuracy));
  say(place(lane, '.versions'), count(versions));
  say(place(lane, '.pace'), versions === 0 ? '–' : (time / versions).toFixed(2));
  say(place(lane, '.waiting'), count(waiting));
  say(place(lane, '.dropped'), count(dropped));
  const updates = staleness.reduce((sum, times) => sum + times, 0);
  const total = staleness.reduce((sum, times, tau) => sum + times * tau, 0);
  say(place(lane, '.staleness'), updates === 0 ? '–' : (total / updates).toFixed(1));
  for (const [n, cell] of [...place(lane, '.cells').children].entries())
    (cell as HTMLElement).dataset['status'] = n < filled ? 'accepted' : 'free';
  drawBars(place(lane, '.histogram-rows'), stalenessBars(staleness, updates), 'no version contains an update yet');
}

/** The tail is one bar: the table keeps its height. */
function stalenessBars(staleness: readonly number[], updates: number) {
  if (updates === 0) return [];
  const tail = staleness.slice(MAX_BARS - 1).reduce((sum, times) => sum + times, 0);
  return Array.from({ length: MAX_BARS }, (_, tau) => {
    const isTail = tau === MAX_BARS - 1;
    const times = isTail ? tail : (staleness[tau] ?? 0);
    return {
      label: isTail ? `${tau} or more` : String(tau),
      value: times,
      text: `${Math.round((100 * times) / updates)} %`,
    };
  });
}
