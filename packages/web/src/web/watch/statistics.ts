/** The results of a statistics task: numbers as lines over windows, histograms of the newest window, all with error bars. */
import type { FieldResult, WindowResult } from '@basa/protocol/policy';
import { count, digits, plural } from '../shared/format.ts';
import { LinePlot } from '../shared/line-plot.ts';
import { drawBars, element, make, say } from '../shared/page.ts';

/** 95 % of the values of a normal distribution are within this many standard deviations. */
const DEVIATIONS = 1.96;
const MAX_WINDOWS = 8;

/** A card of each field, made when its first result arrives. */
const cards = new Map<string, FieldCard>();

interface FieldCard {
  readonly about: HTMLElement;
  readonly body: HTMLElement;
  readonly plot: LinePlot | undefined;
}

export function drawStatistics(windows: readonly WindowResult[]): void {
  const known = windows.filter(({ fields }) => fields.length > 0);
  const newest = known.at(-1);
  say(element('window-status'), statusText(windows));
  drawBars(
    element('window-devices'),
    windows
      .slice(-MAX_WINDOWS)
      .map((window) => ({ label: windowName(window), value: window.devices, text: devicesText(window) })),
    'no window yet',
  );
  for (const [n, field] of (newest?.fields ?? []).entries()) {
    const { about, body, plot } = cardOf(field);
    say(about, aboutText(field, newest?.devices ?? 0));
    if (field.kind === 'histogram')
      drawBars(
        body,
        field.buckets.map((bucket) => ({
          ...{ label: bucket.bucket, value: bucket.count, text: digits(bucket.count) },
          error: DEVIATIONS * field.error,
        })),
        '',
      );
    else drawLine(plot, known, n);
  }
}

function drawLine(plot: LinePlot | undefined, known: readonly WindowResult[], at: number): void {
  const points = known.flatMap(({ from, fields }) => {
    const field = fields[at];
    if (field?.kind !== 'number') return [];
    const wide = DEVIATIONS * field.error;
    return [
      { x: (from - (known[0]?.from ?? 0)) / 1000, mean: field.mean, low: field.mean - wide, high: field.mean + wide },
    ];
  });
  plot?.set(
    points.map(({ x }) => x),
    points.map(({ mean }) => mean),
    points.map(({ low }) => low),
    points.map(({ high }) => high),
  );
}

/** Says which window is shown, or why there is none. */
export function statusText(windows: readonly WindowResult[]): string {
  const newest = windows.filter(({ fields }) => fields.length > 0).at(-1);
  const last = windows.at(-1);
  const missing = last?.why === undefined ? '' : ` The window of ${windowName(last)} has no result: ${last.why}.`;
  if (newest === undefined)
    return `There is no result yet: reports are summed when enough of them have arrived, or at the end of their window.${missing}`;
  const more = newest.isOver ? '' : ' More reports of it may come.';
  return `Newest result: the window of ${windowName(newest)}, ${plural(newest.devices, 'device')}.${more}${missing}`;
}

function devicesText({ devices, lost, why }: WindowResult): string {
  const left = lost === 0 ? '' : `, ${plural(lost, 'report')} left out`;
  return `${count(devices)}${left}${why === undefined ? '' : `: ${why}`}`;
}

function aboutText(field: FieldResult, devices: number): string {
  const wide = digits(DEVIATIONS * field.error);
  return field.kind === 'number'
    ? `Mean ${digits(field.mean)} ± ${wide} over ${plural(devices, 'device')}`
    : `Devices in each bucket, each ± ${wide}, of ${count(devices)}`;
}

const DAY_MS = 86_400_000;

/** The start of a window: its time, or its date if it lasts a day or longer. Such windows begin at midnight UTC. */
function windowName({ from, to }: WindowResult): string {
  const start = new Date(from);
  if (to - from < DAY_MS) return start.toLocaleTimeString('en-GB');
  return start.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
}

function cardOf({ kind, name }: FieldResult): FieldCard {
  const known = cards.get(name);
  if (known !== undefined) return known;
  const about = make('p', { class: 'hint' });
  const isLine = kind === 'number';
  const body = isLine
    ? make('div', {
        class: 'plot',
        role: 'img',
        'aria-label': `mean of ${name} in each window; the newest value is above`,
      })
    : make('tbody');
  const place = isLine
    ? body
    : make('table', { class: 'bars' }, make('caption', { class: 'hidden' }, `devices by ${name}`), body);
  element('fields').append(make('section', { class: 'card' }, make('h2', {}, name), about, place));
  const card = { about, body, plot: isLine ? newPlot(body, name) : undefined };
  cards.set(name, card);
  return card;
}

function newPlot(place: HTMLElement, name: string): LinePlot {
  return new LinePlot(place, {
    x: 'time since the first window shown',
    y: name,
    series: [
      { label: 'mean', colour: 'accent' },
      { label: 'from', colour: 'accent', isBound: true },
      { label: 'to', colour: 'accent', isBound: true },
    ],
    isTime: true,
    height: 180,
  });
}
