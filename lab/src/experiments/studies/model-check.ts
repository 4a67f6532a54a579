/** Compares the cost model with complete runs of the real protocols, to show how accurate the model is. */

import { type AggregationProtocol, secAgg, secAggPlus } from '@basa/baselines';
import { basaOneShot, unsafeBasaPaper } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';
import { paperAbeSealings } from '@basa/simulator/real-sealings';
import {
  type Book,
  Charges,
  Meter,
  nodeTools,
  PROFILED_NAMES,
  type ProfiledName,
  THREE_OF_FOUR,
} from '@basa/simulator/virtual-time';
import { mean, ordering } from '../report/outcome.ts';
import { NO_CELLS, type Profile, type Study } from '../run/context.ts';
import { round } from './protocol-cells.ts';

interface Point {
  readonly name: ProfiledName;
  readonly users: number;
  readonly dimension: number;
}

const POINTS: Readonly<Record<Profile, readonly Point[]>> = {
  smoke: [{ name: 'BASA one-shot', users: 3, dimension: 7850 }],
  small: wholeGrid(),
  full: wholeGrid(),
};

function wholeGrid(): readonly Point[] {
  return PROFILED_NAMES.flatMap((name) => [
    { name, users: 10, dimension: 100_000 },
    { name, users: 10, dimension: 1_000_000 },
  ]);
}

/** The largest acceptable error of the model. */
const MAX_ERROR = 0.15;
/** The first run warms up the compiler. Of the others, the one with the least noise counts, as in the measurement of costs. */
const RUNS = 4;

export const modelCheck: Study = {
  name: 'model-check',
  title: 'The cost model compared with complete runs of the protocols',
  cells: NO_CELLS,
  needs: (profile) => ({
    dimensions: [...new Set(POINTS[profile].map(({ dimension }) => dimension))],
    profiles: POINTS[profile].map(({ name, users }) => ({ name, users, leaving: 0 })),
    codes: [],
    models: [],
  }),
  async run({ profile, costs }) {
    const rows = POINTS[profile].map((point) => {
      const model = new Charges(costs, point.dimension, 1, 'field').totals(point.name, point.users);
      const all = Array.from({ length: profile === 'smoke' ? 2 : RUNS }, () => wholeRun(point));
      const runs = all.slice(1);
      const real = {
        user: Math.min(...runs.map(({ user }) => user)),
        server: Math.min(...runs.map(({ server }) => server)),
      };
      return {
        experiment: 'model-check',
        protocol: point.name,
        users: point.users,
        dimension: point.dimension,
        userModel: round(model.user),
        userRun: round(real.user),
        userError: round(model.user / real.user - 1),
        serverModel: round(model.server),
        serverRun: round(real.server),
        serverError: round(model.server / real.server - 1),
      };
    });
    const placed = rows.map((row) => ({ ...row, where: `${row.protocol}, ${row.users} users, d = ${row.dimension}` }));
    return {
      experiment: 'model-check',
      title: this.title,
      profile,
      rows,
      tables: [
        {
          title: 'Seconds of processor time for one sum: model, whole run, error',
          columns: ['protocol', 'users', 'd', 'user: model', 'run', 'error', 'server: model', 'run', 'error'],
          rows: rows.map((row) => [
            row.protocol,
            `${row.users}`,
            row.dimension.toLocaleString('en'),
            row.userModel.toFixed(3),
            row.userRun.toFixed(3),
            percent(row.userError),
            row.serverModel.toFixed(3),
            row.serverRun.toFixed(3),
            percent(row.serverError),
          ]),
        },
      ],
      figures: [],
      orderings: [
        ordering(
          'the model of a user is off by at most 15 %',
          placed.map((row) => [row.where, Math.abs(row.userError), MAX_ERROR]),
        ),
        ordering(
          'the model of the server is off by at most 15 %',
          placed.map((row) => [row.where, Math.abs(row.serverError), MAX_ERROR]),
        ),
      ],
      notes: [
        'Complete runs have every party in one process, real sealing, messages as bytes, and sums in the field. Of three runs after a warm-up, the one with the least noise counts. LightSecAgg has no model: its cost is measured at its dimension.',
      ],
    };
  },
};

function wholeRun({ name, users, dimension }: Point): { readonly user: number; readonly server: number } {
  const meter = new Meter();
  const inputs = Array.from({ length: users }, (_, user) =>
    Uint32Array.from({ length: dimension }, (__, k) => 1 + ((user * 31 + k) % 1000)),
  );
  const found = protocolOf(name).aggregate({ inputs, leavesBefore: () => undefined }, meter);
  if (found.kind === 'refused') throw new Error(`${name} refused: ${found.reason}`);
  const total = (book: Book | undefined): number =>
    [...(book?.values() ?? [])].reduce((sum, { ms }) => sum + ms, 0) / 1000;
  return { user: mean(found.included.map((user) => total(meter.users.get(user)))), server: total(meter.server) };
}

function protocolOf(name: ProfiledName): AggregationProtocol {
  switch (name) {
    case 'SecAgg':
      return secAgg(nodeTools());
    case 'SecAgg+':
      return secAggPlus(nodeTools(), { corrupt: 0.05, dropped: 0.05 });
    case 'BASA paper':
      return unsafeBasaPaper(nodeEnvironment, { sealings: paperAbeSealings() });
    case 'BASA one-shot':
      return basaOneShot(nodeEnvironment);
    case 'BASA one-shot (3 of 4)':
      return basaOneShot(nodeEnvironment, THREE_OF_FOUR);
  }
}

function percent(share: number): string {
  return `${share >= 0 ? '+' : ''}${(100 * share).toFixed(0)} %`;
}
