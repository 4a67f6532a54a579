/** Our study: the time of a version over real links, computed from counted bytes. */
import type { Link } from '@basa/simulator';
import { CELL, type Cell, exponential, FEMNIST, MNIST_SMOKE, PROTOCOLS } from '@basa/virtual-time';
import { ordering } from '../report/outcome.ts';
import { NO_CELLS, needsOfCells, type Profile, type Study, timeOnly } from '../run/context.ts';
import { computeOf } from './computes.ts';
import { round } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

const megabits = (up: number, down: number, latencySeconds: number): Link => ({
  upBitsPerSecond: 1e6 * up,
  downBitsPerSecond: 1e6 * down,
  latencySeconds,
});

/** The first three links are those of the LightSecAgg paper. The phone links are our assumption. */
const LINKS: Readonly<Record<string, Link>> = {
  '98 Mb/s': megabits(98, 98, 0.01),
  '320 Mb/s': megabits(320, 320, 0.01),
  '802 Mb/s': megabits(802, 802, 0.01),
  'phone, 4G': megabits(10, 40, 0.05),
  'phone, 5G': megabits(50, 200, 0.02),
};

const NAMES = PROTOCOLS.filter((name) => !name.includes(','));

function cellsOf(profile: Profile): readonly (Cell & { readonly name: string })[] {
  const task = profile === 'smoke' ? MNIST_SMOKE : { ...FEMNIST, cap: { buffers: 500, rounds: 200 } };
  return Object.entries(LINKS).flatMap(([name, link]) =>
    NAMES.map((protocol) => ({
      ...CELL,
      task,
      protocol,
      link,
      name,
      delay: exponential(3),
      compute: computeOf('declared', task),
    })),
  );
}

export const bandwidth: Study = {
  name: 'bandwidth',
  title: 'Links: seconds for one aggregation, from counted bytes',
  cells: NO_CELLS,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, costs }) {
    const rows = cellsOf(profile).map((cell) => {
      const { times, order } = timeOnly(cell, costs);
      const updates = order.reduce((sum, version) => sum + version.length, 0);
      const seconds = times.at(-1) ?? 0;
      return {
        experiment: 'bandwidth',
        link: cell.name,
        protocol: cell.protocol,
        secondsPerAggregation: round(seconds / times.length),
        secondsPerUpdate: round(seconds / updates),
      };
    });
    const of = (link: string, protocol: string): number | undefined =>
      rows.find((row) => row.link === link && row.protocol === protocol)?.secondsPerUpdate;
    const links = Object.keys(LINKS);
    const d = cellsOf(profile)[0]?.task.dimension ?? 0;
    return {
      experiment: 'bandwidth',
      title: this.title,
      profile,
      rows,
      tables: [
        {
          title: `Seconds for each update that is in a sum; d = ${d.toLocaleString('en')}, 32 users, K = 10, beta = 3`,
          columns: ['link', ...NAMES],
          rows: links.map((link) => [link, ...NAMES.map((protocol) => of(link, protocol)?.toFixed(3) ?? '')]),
        },
      ],
      figures: [],
      orderings: [
        ordering(
          `${OURS} takes at most 1.05 times as long as no SA`,
          links.map((link) => [link, of(link, OURS), of(link, 'no SA')]),
          1.05,
        ),
        ordering(
          `${OURS} is ahead of BASA paper, whose turn waits for the link`,
          links.map((link) => [link, of(link, OURS), of(link, 'BASA paper')]),
        ),
        ordering(
          `${OURS} is ahead of LSA async`,
          links.map((link) => [link, of(link, OURS), of(link, 'LSA async')]),
        ),
      ],
      notes: [
        'Only timing is simulated; nothing is trained. A round sums 32 updates and a buffer sums 10, so compare the time per update.',
      ],
    };
  },
};
