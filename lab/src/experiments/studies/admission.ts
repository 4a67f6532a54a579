/** Our study: time to the target by the number of concurrent users, with the server's admission and with all users training. */
import { CELL, type Cell, type ExperimentTask, exponential, type Figure, MNIST, MNIST_SMOKE } from '@basa/virtual-time';
import { ordering, type Pair } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import type { CellResult } from '../run/grid.ts';
import { computeOf } from './computes.ts';
import { reachedClaim } from './lines.ts';
import { type Found, overSeeds, pairOf, rowOf, shown } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

const BETA = 5;
const CONCURRENCIES: Readonly<Record<Profile, readonly number[]>> = {
  smoke: [20, 60],
  small: [20, 32, 50, 100, 200, 400, 800],
  full: [20, 32, 50, 100, 200, 400, 800],
};
const SEEDS: Readonly<Record<Profile, number>> = { smoke: 1, small: 5, full: 5 };

/** The rule of admission, and the damping of the step. */
const VARIANTS = [
  { name: 'places auto, exponent 1/2', places: 'auto', damping: 0.5 },
  { name: 'places auto, exponent 1', places: 'auto', damping: 1 },
  { name: 'everybody, exponent 1/2 (FedBuff)', places: 'unlimited', damping: 0.5 },
  { name: 'everybody, exponent 1', places: 'unlimited', damping: 1 },
  { name: 'everybody, not damped (the paper)', places: 'unlimited', damping: 'none' },
] as const;
type Variant = (typeof VARIANTS)[number];

function taskOf(profile: Profile, { damping }: Variant): ExperimentTask {
  const task = profile === 'smoke' ? MNIST_SMOKE : { ...MNIST, cap: { buffers: 600, rounds: 1 } };
  return { ...task, step: { ...task.step, buffers: { ...task.step.buffers, damping } } };
}

function cellsOf(profile: Profile, variants: readonly Variant[] = VARIANTS): readonly Cell[] {
  return Array.from({ length: SEEDS[profile] }, (_, n) => n + 1).flatMap((seed) =>
    CONCURRENCIES[profile].flatMap((concurrency) =>
      variants.map((variant): Cell => {
        const task = taskOf(profile, variant);
        const compute = computeOf('declared', task);
        const { places } = variant;
        return { ...CELL, task, protocol: OURS, delay: exponential(BETA), concurrency, compute, places, seed };
      }),
    ),
  );
}

export const admission: Study = {
  name: 'admission',
  title: `Admission: time to the target by the users at a time, beta = ${BETA}`,
  cells: (profile) => cellsOf(profile),
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const byVariant = new Map<Variant, readonly CellResult[]>();
    for (const variant of VARIANTS) byVariant.set(variant, await found(cellsOf(profile, [variant])));
    const places = CONCURRENCIES[profile];
    const at = (variant: Variant, users: number): Found | undefined =>
      overSeeds(byVariant.get(variant) ?? [], ({ concurrency }) => concurrency === users);
    const [auto, , everybody] = VARIANTS;
    const many = places.filter((users) => users >= 100);
    const figure: Figure = {
      name: 'admission',
      title: `MNIST, ${OURS}, beta = ${BETA}`,
      x: 'users at a time',
      y: 'virtual seconds to the target',
      series: VARIANTS.map((variant) => ({
        name: variant.name,
        points: places.flatMap((users) => {
          const here = at(variant, users);
          return here?.isReached ? [[users, here.seconds, here.deviation] as const] : [];
        }),
      })),
    };
    return {
      experiment: 'admission',
      title: this.title,
      profile,
      rows: [...byVariant].flatMap(([{ name }, results]) =>
        results.map((result) => ({ ...rowOf('admission', result), variant: name })),
      ),
      tables: [
        {
          title: 'MNIST: seconds to 80 %, and how old an update is on the average',
          groups: [{ title: '', columns: 1 }, ...VARIANTS.map(({ name }) => ({ title: name, columns: 2 }))],
          columns: ['users at a time', ...VARIANTS.flatMap(() => ['seconds', 'age'])],
          rows: places.map((users) => [
            `${users}`,
            ...VARIANTS.flatMap((variant) => {
              const here = at(variant, users);
              return [shown(here), here?.meanAge.toFixed(1) ?? ''];
            }),
          ]),
        },
      ],
      figures: [figure],
      orderings: [
        ordering(
          'from 100 users on, admission is no slower than letting everybody train with the same step',
          many.map((users) => pairOf(`${users} users`, at(auto, users), at(everybody, users))),
        ),
        ordering(
          'with admission an update is at most 4 versions old on the average, however many ask',
          places.map((users): Pair => [`${users} users`, at(auto, users)?.meanAge, 4]),
        ),
        reachedClaim('with admission every run comes to the target', byVariant.get(auto) ?? []),
      ],
      notes: [
        `One task, one server rate, ${SEEDS[profile]} seeds. Only the rule of admission and the damping of the step differ. A line ends where runs did not reach the target within 600 versions.`,
      ],
    };
  },
};
