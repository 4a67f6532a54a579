/** A plot of samples over buffers as SVG: one small panel for each quantity. */
import type { Sample } from './samples.ts';

const PANELS: readonly (readonly [keyof Sample, string])[] = [
  ['serverMegabytes', 'server, MB resident'],
  ['authorityMegabytes', 'authority, MB resident'],
  ['serverFiles', 'server, open files'],
  ['diskMegabytes', 'disk, MB'],
  ['latencyMs', 'contribution, median ms'],
];
const [WIDTH, HEIGHT, LEFT] = [720, 90, 190];

export function plotOf(samples: readonly Sample[]): string {
  const last = samples.at(-1)?.buffers ?? 1;
  const panels = PANELS.map(([key, title], n) => {
    const values = samples.map((sample) => sample[key]);
    const most = Math.max(...values.filter(Number.isFinite), 1e-9);
    const points = samples.map((sample, i) => {
      const x = LEFT + (sample.buffers / last) * (WIDTH - LEFT - 10);
      return `${x.toFixed(1)},${(HEIGHT - 10 - ((values[i] ?? 0) / most) * (HEIGHT - 25)).toFixed(1)}`;
    });
    return `<g transform="translate(0 ${n * HEIGHT})"><text x="8" y="45">${title}</text><text x="8" y="62">most ${most.toFixed(1)}</text>
<polyline fill="none" stroke="#1f5fa8" points="${points.filter((point) => !point.includes('NaN')).join(' ')}"/>
<line x1="${LEFT}" x2="${WIDTH - 10}" y1="${HEIGHT - 10}" y2="${HEIGHT - 10}" stroke="#999"/></g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT * PANELS.length + 20}" font-family="sans-serif" font-size="12"><title>What a soak of ${last} batches held over time</title>
${panels.join('\n')}
<text x="${LEFT}" y="${HEIGHT * PANELS.length + 12}">0 to ${last} batches</text></svg>
`;
}
