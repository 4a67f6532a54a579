/** Lines over time or versions by uPlot, in the colours of the page, as wide as their container. */
import uPlot, { type AlignedData, type Axis, type Options } from 'uplot';
import { count, digits, seconds } from './format.ts';

interface LineSeries {
  readonly label: string;
  /** The name of a colour of the style sheet, without its dashes. */
  readonly colour: string;
  readonly dash?: readonly number[];
  /** True if the line is drawn only for comparison, without values. */
  readonly isMark?: boolean;
  /** True for the lower and the upper end of error bars: two series, lower first, drawn as bars instead of lines. */
  readonly isBound?: boolean;
}

interface LinePlotOptions {
  readonly x: string;
  readonly y: string;
  readonly series: readonly LineSeries[];
  readonly range?: readonly [number, number];
  readonly formatY?: (value: number) => string;
  /** Seconds are formatted as times; anything else is counted. */
  readonly isTime?: boolean;
  readonly height?: number;
}

/** Versions are counted, not measured. */
const WHOLE_STEPS = [1, 2, 5]
  .flatMap((step) => [0, 1, 2, 3, 4].map((power) => step * 10 ** power))
  .sort((a, b) => a - b);

/** Seconds, minutes, hours and days between two marks. */
const TIME_STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 43_200, 86_400, 604_800];

export class LinePlot {
  readonly #place: HTMLElement;
  readonly #options: LinePlotOptions;
  #plot: uPlot | undefined;
  #data: AlignedData;

  constructor(place: HTMLElement, options: LinePlotOptions) {
    this.#place = place;
    this.#options = options;
    this.#data = [[], ...options.series.map(() => [])] as unknown as AlignedData;
    new ResizeObserver(() => this.#resize()).observe(place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#redraw());
    this.#redraw();
  }

  set(xs: readonly number[], ...ys: readonly (readonly (number | null)[])[]): void {
    this.#data = [xs as number[], ...(ys as (number | null)[][])];
    this.#plot?.setData(this.#data);
    this.#showNewest();
  }

  #redraw(): void {
    this.#plot?.destroy();
    this.#place.replaceChildren();
    this.#plot = new uPlot(this.#uplotOptions(), this.#data, this.#place);
    this.#showNewest();
  }

  /** The legend shows the newest values, unless the pointer is on others. */
  #showNewest(): void {
    const { length } = this.#data[0];
    if (length > 0 && this.#plot?.cursor.idx == null) this.#plot?.setLegend({ idx: length - 1 });
  }

  #resize(): void {
    const { width } = this.#size();
    if (this.#plot !== undefined && this.#plot.width !== width) this.#plot.setSize(this.#size());
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(200, this.#place.clientWidth), height: this.#options.height ?? 220 };
  }

  /** A single point would get an arbitrary axis from uPlot. */
  #rangeX(): [number, number] {
    const [xs] = this.#data;
    const [first = 0, last = 0] = [xs[0], xs[xs.length - 1]];
    return [first, Math.max(last, first + 1)];
  }

  #uplotOptions(): Options {
    const { x, y, series, range, formatY = digits, isTime = false } = this.#options;
    const formatX = isTime ? seconds : count;
    const colour = (name: string): string =>
      getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    const axis = (more: Axis): Axis => ({
      stroke: colour('quiet'),
      font: '12px system-ui, sans-serif',
      labelFont: '12px system-ui, sans-serif',
      labelSize: 18,
      grid: { stroke: colour('line'), width: 1 },
      ticks: { stroke: colour('line'), width: 1, size: 4 },
      ...more,
    });
    return {
      ...this.#size(),
      scales: {
        x: { time: false, range: () => this.#rangeX() },
        y: range === undefined ? {} : { range: [range[0], range[1]] },
      },
      axes: [
        axis({
          label: x,
          size: 30,
          incrs: isTime ? TIME_STEPS : WHOLE_STEPS,
          values: (_, values) => values.map(formatX),
        }),
        axis({ label: y, size: 58, values: (_, values) => values.map((value) => formatY(value)) }),
      ],
      series: [
        { label: x, value: (_: uPlot, value: number | null) => (value === null ? '–' : formatX(value)) },
        ...series.map(({ label, colour: name, dash, isMark = false, isBound = false }) => ({
          label,
          stroke: isBound ? 'transparent' : colour(name),
          width: 2,
          points: isMark || isBound ? { show: false } : { size: 5 },
          spanGaps: true,
          value: (_: uPlot, value: number | null) => (value === null ? '–' : formatY(value)),
          ...(dash !== undefined && { dash: [...dash] }),
        })),
      ],
      cursor: { points: { size: 7 } },
      hooks: { setCursor: [() => this.#showNewest()], draw: [(plot) => this.#drawErrors(plot, colour)] },
    };
  }

  /** From the lower to the upper bound of each point. */
  #drawErrors({ ctx, data, valToPos }: uPlot, colour: (name: string) => string): void {
    const at = this.#options.series.findIndex(({ isBound }) => isBound) + 1;
    if (at === 0) return;
    ctx.save();
    ctx.strokeStyle = colour(this.#options.series[at - 1]?.colour ?? 'ink');
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.beginPath();
    for (const [n, x] of data[0].entries()) {
      const [low, high] = [data[at]?.[n], data[at + 1]?.[n]];
      if (low == null || high == null) continue;
      const left = valToPos(x, 'x', true);
      ctx.moveTo(left, valToPos(low, 'y', true));
      ctx.lineTo(left, valToPos(high, 'y', true));
    }
    ctx.stroke();
    ctx.restore();
  }
}
