/** Metrics that devices report under the masks: the mean of each named metric, version by version. */
import { element, make, say } from '../shared/dom.ts';
import { digits } from '../shared/format.ts';
import { LinePlot } from '../shared/line-plot.ts';
import type { Watched } from '../shared/live.ts';

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
