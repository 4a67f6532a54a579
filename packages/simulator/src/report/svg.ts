/** A figure as SVG: lines with marks, axes with round numbers, each line with its name at its end. It loads nothing from outside. */

import { escapeText } from './escape.ts';

interface Series {
  readonly name: string;
  /** `deviation` over seeds is drawn as an error bar. */
  readonly points: readonly (readonly [x: number, y: number, deviation?: number])[];
}

export interface Figure {
  readonly name: string;
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly isLogarithmic?: boolean;
  /** Only lines, for curves of many points. */
  readonly isWithoutMarks?: boolean;
  readonly series: readonly Series[];
}

/** Beside the plot is room for the longest name in the widest possible font. */
const [WIDTH, HEIGHT] = [840, 420];
const PLOT = { left: 78, right: 540, top: 46, bottom: 366 } as const;
/** Distinguishable by people with colour vision deficiency (Okabe and Ito), and by their marks. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];
/** Lines also differ in grey. */
const DASHES = ['none', '8 4', '2 3', '10 3 2 3', '14 5', '5 2'];
const MARKS = ['circle', 'square', 'diamond', 'triangle'] as const;

const LABEL_WIDTH = 34;
/** Names of lines that end close to each other move apart to this distance. */
const NAME_HEIGHT = 19;

export function figureSvg({ title, x, y, isLogarithmic = false, isWithoutMarks = false, series }: Figure): string {
  const points = series.flatMap((line) => line.points);
  const xs = points.map(([at]) => at);
  const ys = points
    .flatMap(([, value, spread = 0]) => [value - spread, value + spread, value])
    .filter((value) => !isLogarithmic || value > 0);
  const [first, right] = spanOf(xs);
  const left = isWithoutMarks ? 0 : first;
  const ticks = isLogarithmic ? decades(ys) : roundTicks(0, Math.max(...ys, 0));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const scale = isLogarithmic ? Math.log10 : (value: number): number => value;
  const xOf = (value: number): number => PLOT.left + ((value - left) / (right - left)) * (PLOT.right - PLOT.left);
  const yOf = (value: number): number =>
    PLOT.bottom - ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (PLOT.bottom - PLOT.top);
  const grid = ticks.map((tick) => {
    const at = yOf(tick).toFixed(1);
    return `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${at}" y2="${at}" class="grid"/><text x="${PLOT.left - 8}" y="${at}" dy="4" text-anchor="end">${short(tick)}</text>`;
  });
  // A curve of many points has round numbers below it, not one for each point.
  const places = isWithoutMarks
    ? roundTicks(0, right).filter((tick) => tick <= right)
    : [...new Set(xs)].sort((a, b) => a - b);
  const labels = apart(places.map(xOf)).map(
    (n) =>
      `<text x="${xOf(places[n] as number).toFixed(1)}" y="${PLOT.bottom + 20}" text-anchor="middle">${short(places[n] as number)}</text>`,
  );
  const ends = series.map(({ points: own }) => yOf(own.at(-1)?.[1] ?? low));
  const names = namePlaces(ends);
  const lines = series.map((line, n) => {
    const colour = COLOURS[n % COLOURS.length] as string;
    const shown = line.points.filter(([, value]) => !isLogarithmic || value > 0);
    const path = shown.map(([at, value]) => `${xOf(at).toFixed(1)},${yOf(value).toFixed(1)}`).join(' ');
    const marks = isWithoutMarks
      ? ''
      : shown
          .map(([at, value, spread = 0]) => {
            const bar =
              spread === 0 ? '' : errorBar(xOf(at), yOf(value + spread), yOf(Math.max(low, value - spread)), colour);
            return `${bar}${mark(n, xOf(at), yOf(value), colour)}`;
          })
          .join('');
    const [end, name] = [ends[n] as number, names[n] as number];
    const leader = `<path d="M${PLOT.right + 6} ${end.toFixed(1)}L${PLOT.right + 20} ${name.toFixed(1)}" stroke="#999" fill="none"/>`;
    const dash = DASHES[n % DASHES.length];
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>${marks}${leader}<text x="${PLOT.right + 24}" y="${name.toFixed(1)}" dy="4">${escapeText(line.name)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeText(title)}" font-family="system-ui, sans-serif" font-size="13">
<style>text{fill:#333}.grid{stroke:#ddd}</style><rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${PLOT.left}" y="24" font-size="15" font-weight="600">${escapeText(title)}</text>
${grid.join('\n')}
${labels.join('\n')}
<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 44}" text-anchor="middle">${escapeText(x)}</text>
<text transform="translate(18 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">${escapeText(y)}</text>
${lines.join('\n')}
</svg>
`;
}

/** The heights of the names, in the order of the lines: at their ends, but apart from each other and inside the plot. */
function namePlaces(ends: readonly number[]): readonly number[] {
  const places = [...ends];
  const order = [...ends.keys()].sort((a, b) => (ends[a] as number) - (ends[b] as number));
  let least = PLOT.top;
  for (const n of order) {
    places[n] = Math.max(least, places[n] as number);
    least = (places[n] as number) + NAME_HEIGHT;
  }
  const over = Math.max(0, least - NAME_HEIGHT - PLOT.bottom);
  return places.map((place) => place - over);
}

/** One standard deviation over seeds, up and down. */
function errorBar(x: number, top: number, bottom: number, colour: string): string {
  const [left, right] = [(x - 4).toFixed(1), (x + 4).toFixed(1)];
  const line = (x1: string, x2: string, y1: number, y2: number): string =>
    `<line x1="${x1}" x2="${x2}" y1="${y1.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${colour}" stroke-width="1.2"/>`;
  return (
    line(x.toFixed(1), x.toFixed(1), top, bottom) + line(left, right, top, top) + line(left, right, bottom, bottom)
  );
}

/** Returns the places, from left to right, that have room for a label. */
function apart(places: readonly number[]): readonly number[] {
  const kept: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const [n, place] of places.entries()) {
    if (place - last < LABEL_WIDTH) continue;
    kept.push(n);
    last = place;
  }
  return kept;
}

function spanOf(values: readonly number[]): readonly [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return high > low ? [low, high] : [low - 1, low + 1];
}

/** Four to six steps of 1, 2 or 5 times a power of ten. */
function roundTicks(low: number, high: number): number[] {
  if (!(high > low)) return [low, low + 1];
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil((high - low) / step) + 1 }, (_, n) => low + n * step);
}

function decades(values: readonly number[]): number[] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n));
}

function short(value: number): string {
  return value >= 1e6 ? `${value / 1e6}M` : `${Number(value.toPrecision(6))}`;
}

function mark(n: number, x: number, y: number, colour: string): string {
  const [cx, cy] = [x.toFixed(1), y.toFixed(1)];
  switch (MARKS[n % MARKS.length]) {
    case 'circle':
      return `<circle cx="${cx}" cy="${cy}" r="4.5" fill="${colour}"/>`;
    case 'square':
      return `<rect x="${(x - 4).toFixed(1)}" y="${(y - 4).toFixed(1)}" width="8" height="8" fill="${colour}"/>`;
    case 'diamond':
      return `<path d="M${cx} ${(y - 6).toFixed(1)}l6 6-6 6-6-6z" fill="${colour}"/>`;
    default:
      return `<path d="M${cx} ${(y - 5.5).toFixed(1)}l6 10h-12z" fill="${colour}"/>`;
  }
}
