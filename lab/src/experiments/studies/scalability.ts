/**
 * Figure 3: the computation time of one user by the number of users, by the number of parameters and by the buffer size, and the cost of a
 * sum.
 */

import { Charges, type CostNeeds, type Costs, type Figure } from '@basa/simulator/virtual-time';
import { mean, ofPaper, ordering, type Pair, type Row } from '../report/outcome.ts';
import { NO_CELLS, type Profile, type Study } from '../run/context.ts';
import { round } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

interface Grid {
  readonly users: readonly number[];
  readonly dimensions: readonly number[];
  readonly buffers: readonly number[];
  /** Additional sizes for `one-shot` mode. */
  readonly batches: readonly number[];
}

const K = 10;
const ONE_SHOTS = [OURS, 'BASA one-shot (3 of 4)'] as const;
const GRIDS: Readonly<Record<Profile, Grid>> = {
  smoke: { users: [20, 40], dimensions: [7850], buffers: [4, 8], batches: [16] },
  small: {
    users: [100, 400, 1000],
    dimensions: [100_000, 500_000, 1_000_000],
    buffers: [10, 20, 50, 100, 200],
    batches: [1000],
  },
  full: {
    users: [100, 400, 1000],
    dimensions: [100_000, 500_000, 1_000_000],
    buffers: [10, 50, 100, 200, 500, 1000],
    batches: [10_000],
  },
};

function needsOf(profile: Profile): CostNeeds {
  const { users, dimensions, buffers, batches } = GRIDS[profile];
  const sizes = [...new Set([K, ...buffers])];
  return {
    dimensions,
    profiles: [
      ...sizes.map((size) => ({ name: 'BASA paper' as const, users: size, leaving: 0 })),
      ...[...sizes, ...batches].flatMap((size) => ONE_SHOTS.map((name) => ({ name, users: size, leaving: 0 }))),
    ],
    codes: users.flatMap((n) =>
      dimensions.map((dimension) => ({ code: 'published' as const, users: n, dimension, summed: K })),
    ),
    models: [],
  };
}

/** Mean over the places of a buffer. */
function paperSeconds(costs: Costs, dimension: number, bufferSize: number): number {
  const { quantiseSeconds, turnSeconds } = new Charges(costs, dimension).paper(bufferSize);
  return quantiseSeconds + mean(Array.from({ length: bufferSize }, (_, place) => turnSeconds(place)));
}

/** The cost of one user, and of all work of the server and the authorities for a sum. Blank if a buffer of this size was not measured. */
function byBufferRow(costs: Costs, dimension: number, size: number, isBatchOnly: boolean): Row {
  const [one, several] = ONE_SHOTS.map((name) => new Charges(costs, dimension).oneShot(name, size));
  return {
    figure: '3b',
    dimension,
    bufferSize: size,
    'BASA paper': isBatchOnly ? '' : round(paperSeconds(costs, dimension, size)),
    [OURS]: round(one?.deviceSeconds ?? Number.NaN),
    'BASA one-shot (3 of 4)': round(several?.deviceSeconds ?? Number.NaN),
    'a sum, one-shot': round(
      one === undefined
        ? Number.NaN
        : size * (one.intakeSeconds + one.inspectSeconds) + one.releaseSeconds(size) + one.openSeconds(size),
    ),
  };
}

export const scalability: Study = {
  name: 'scalability',
  title: 'Figure 3: time of one user',
  cells: NO_CELLS,
  needs: needsOf,
  async run({ profile, costs }) {
    const { users, dimensions, buffers, batches } = GRIDS[profile];
    const byUsers: Row[] = dimensions.flatMap((dimension) =>
      users.map((n) => {
        const lsa = new Charges(costs, dimension).lightSecAggBuffered(n, K, 'sequential');
        const ours = new Charges(costs, dimension).oneShot(OURS, K).deviceSeconds;
        return {
          figure: '3a',
          dimension,
          users: n,
          'LSA async': round(lsa.offlineSeconds + lsa.maskSeconds + lsa.answerSeconds),
          'BASA paper': round(paperSeconds(costs, dimension, K)),
          [OURS]: round(ours),
          ratio: round((lsa.offlineSeconds + lsa.maskSeconds + lsa.answerSeconds) / ours),
        };
      }),
    );
    const byBuffer: Row[] = dimensions.flatMap((dimension) =>
      [...buffers, ...batches].map((size) => byBufferRow(costs, dimension, size, batches.includes(size))),
    );
    const largest = Math.max(...dimensions);
    const most = Math.max(...users);
    const at = (row: Row): boolean => row['dimension'] === largest && row['users'] === most;
    return {
      experiment: 'scalability',
      title: this.title,
      profile,
      rows: [...byUsers, ...byBuffer],
      tables: [
        tableOf('One user by the number of users N, seconds; K = 10', byUsers),
        tableOf('One user and one sum (server and authorities) by the size of the buffer K, seconds', byBuffer),
      ],
      figures: [
        ...dimensions.map((d) =>
          figureOf(`scalability-users-${d}`, `d = ${d.toLocaleString('en')}`, byUsers, d, 'users', [
            'LSA async',
            'BASA paper',
            OURS,
          ]),
        ),
        ...dimensions.map((d) =>
          figureOf(`scalability-buffer-${d}`, `d = ${d.toLocaleString('en')}`, byBuffer, d, 'bufferSize', [
            'BASA paper',
            ...ONE_SHOTS,
          ]),
        ),
      ],
      orderings: [
        ordering(
          `${OURS} is below LSA at the most users and parameters`,
          byUsers.filter(at).map((row) => [`N = ${most}, d = ${largest}`, Number(row[OURS]), Number(row['LSA async'])]),
        ),
        ofPaper(
          'section 4.4, Figure 3a',
          ordering(
            'BASA paper is below LSA at the most users and parameters',
            byUsers
              .filter(at)
              .map((row) => [`N = ${most}, d = ${largest}`, Number(row['BASA paper']), Number(row['LSA async'])]),
          ),
        ),
        ordering(
          'a device of one-shot mode takes at most 1.5 times as long in a sum of the largest K as in one of 10',
          ONE_SHOTS.flatMap((line) =>
            dimensions.map((d): Pair => {
              const here = byBuffer.filter((row) => row['dimension'] === d);
              return [`${line}, d = ${d}`, Number(here.at(-1)?.[line]), Number(here[0]?.[line])];
            }),
          ),
          1.5,
        ),
        ofPaper(
          'section 4.4, Figure 3b: "the execution time increases linearly with the buffer size"',
          ordering(
            'the time of a user of BASA is linear in K: a straight line explains 99 % of it',
            dimensions.map((d): Pair => {
              const here = byBuffer.filter((row) => row['dimension'] === d && row['BASA paper'] !== '');
              return [
                `BASA paper, d = ${d}`,
                0.99,
                straightness(here.map((row) => [Number(row['bufferSize']), Number(row['BASA paper'])])),
              ];
            }),
          ),
        ),
      ],
      notes: [
        'The cost of a sum is all computation of the server and the authorities, including the intake, on one thread each. Buffers of the paper with more than 1,000 positions were not measured.',
        'Times are CPU seconds, computed from operations measured at the true dimension. BASA does not depend on N, so its line comes from one measurement.',
        'For each trip, a user of LSA encodes its mask for all users, receives a share from each user (U = 0.7 N, T = N / 2), masks its update, and answers once.',
      ],
    };
  },
};

/** R squared of a straight line through the points. */
function straightness(points: readonly (readonly [number, number])[]): number {
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const sum = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((all, one) => all + of(one), 0);
  const together = sum(([at, value]) => (at - x) * (value - y));
  const [wide, high] = [sum(([at]) => (at - x) ** 2), sum(([, value]) => (value - y) ** 2)];
  return wide === 0 || high === 0 ? 1 : together ** 2 / (wide * high);
}

function tableOf(title: string, rows: readonly Row[]) {
  const columns = Object.keys(rows[0] ?? {}).filter((name) => name !== 'figure');
  return {
    title,
    columns,
    rows: rows.map((row) => columns.map((name) => (row[name] === '' ? '' : Number(row[name]).toLocaleString('en')))),
  };
}

function figureOf(
  name: string,
  title: string,
  rows: readonly Row[],
  dimension: number,
  x: string,
  lines: readonly string[],
): Figure {
  const here = rows.filter((row) => row['dimension'] === dimension);
  return {
    name,
    title,
    x: x === 'users' ? 'users N' : 'buffer size K',
    y: 'seconds of one user',
    isLogarithmic: true,
    series: lines.map((line) => ({
      name: line,
      points: here.filter((row) => row[line] !== '').map((row) => [Number(row[x]), Number(row[line])] as const),
    })),
  };
}
