/** Our study: one million registered users. Only timing is simulated. */
import { SealedScheme, Timeline } from '@basa/simulator';
import { Charges, MNIST } from '@basa/virtual-time';
import { ordering } from '../report/outcome.ts';
import { NO_CELLS, type Profile, type Study } from '../run/context.ts';
import { openFleet } from './open-fleet.ts';
import { round, spaced } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

const USERS = 1_000_000;
const K = 10;
const EVENTS: Readonly<Record<Profile, number>> = { smoke: 100_000, small: 10_000_000, full: 10_000_000 };
/** Arrivals per second. Each rate is below the number of keys that one authority issues per second on this machine. */
const RATES = [10, 40] as const;

export const scale: Study = {
  name: 'scale',
  title: 'A million users that arrive at any time (only timing)',
  cells: NO_CELLS,
  needs: () => ({
    dimensions: [MNIST.dimension],
    profiles: [0, 1].map((leaving) => ({ name: OURS, users: K, leaving })),
    codes: [],
    models: [],
  }),
  async run({ profile, costs }) {
    const rows = RATES.map((perSecond) => {
      const fleet = openFleet({ users: USERS, perSecond, bufferSize: K, dimension: MNIST.dimension });
      const timeline = new Timeline(fleet);
      const scheme = new SealedScheme(timeline, new Charges(costs, MNIST.dimension).sealed(OURS, K, 4));
      let [included, staleness] = [0, 0];
      const began = performance.now();
      for (const event of timeline.run(scheme)) {
        if (event.kind === 'version') {
          included += event.included.length;
          for (const update of event.included) staleness += update.staleness;
        }
        if (timeline.events >= EVENTS[profile]) break;
      }
      const seconds = (performance.now() - began) / 1000;
      const busy = scheme.utilisation(timeline.now);
      return {
        experiment: 'scale',
        arrivalsPerSecond: perSecond,
        events: timeline.events,
        trips: timeline.trips,
        versions: timeline.version,
        included,
        meanStaleness: round(staleness / Math.max(1, included)),
        virtualHours: round(timeline.now / 3600),
        busyAuthority: round(busy['authority'] ?? 0),
        busyOpening: round(busy['opening'] ?? 0),
        wallSeconds: round(seconds),
        residentMegabytes: Math.round(process.memoryUsage().rss / 2 ** 20),
      };
    });
    const columns = Object.keys(rows[0] ?? {}).filter(
      (name) => name !== 'experiment',
    ) as (keyof (typeof rows)[number])[];
    return {
      experiment: 'scale',
      title: this.title,
      profile,
      rows,
      tables: [
        {
          title: '10^6 registered users, K = 10, d = 7,850',
          columns: columns.map(spaced),
          rows: rows.map((row) => columns.map((name) => row[name].toLocaleString('en'))),
        },
      ],
      figures: [],
      orderings: [
        ordering(
          'memory stays below 1 GB',
          rows.map((row) => [`${row.arrivalsPerSecond} a second`, row.residentMegabytes, 1024]),
        ),
      ],
      notes: ['Wall-clock seconds and megabytes were measured in this run. All other times are virtual.'],
    };
  },
};
