/**
 * Our study: accuracy by epsilon, with noise added by the devices, by the authority, or by a trusted server. It also shows when noise costs
 * too much accuracy.
 */
import { epsilonOf, inclusionCost } from '@basa/masking';
import type { Figure } from '@basa/simulator/virtual-time';
import type { PrivateRun } from '../privacy/private-run.ts';
import { type FinishedRun, runPrivately } from '../privacy/run-private.ts';
import { deviation, mean, ordering, type Table } from '../report/outcome.ts';
import { NO_CELLS, type Profile, type Study, type TrainingRun } from '../run/context.ts';
import { MODELS } from '../tasks/tasks.ts';

const DELTA = 1e-6;

interface Setting {
  readonly dataset: 'MNIST' | 'CIFAR-10';
  readonly dimension: number;
  readonly base: Omit<PrivateRun, 'seed' | 'noise' | 'noiseMultiplier'>;
  readonly multipliers: readonly number[];
}

/** Clip and rate were chosen in runs without noise, so that most updates are a little longer than the clip. */
const MNIST: Setting = {
  dataset: 'MNIST',
  dimension: MODELS['logistic regression']?.().dimension ?? 0,
  base: {
    task: 'mnist',
    bufferSize: 100,
    buffers: 100,
    clip: 0.5,
    learningRate: 0.1,
    maxExamples: Number.MAX_SAFE_INTEGER,
  },
  multipliers: [1, 2, 4, 8, 12],
};

/** Shows the benefit of a large sum that includes every user (one-shot mode). */
const LARGE: Setting = {
  ...MNIST,
  base: { ...MNIST.base, bufferSize: 1000, buffers: 40 },
  multipliers: [2, 8, 32, 64],
};

const CIFAR: Setting = {
  dataset: 'CIFAR-10',
  dimension: MODELS['FLSim CNN']?.().dimension ?? 0,
  base: { task: 'flsim', bufferSize: 10, buffers: 60, clip: 1, learningRate: 0.1, maxExamples: 60 },
  multipliers: [0.25, 1, 4],
};

const SEEDS: Readonly<Record<Profile, number>> = { smoke: 1, small: 3, full: 3 };

function settingsOf(profile: Profile): readonly Setting[] {
  if (profile !== 'smoke') return [MNIST, LARGE, CIFAR];
  return [{ ...MNIST, base: { ...MNIST.base, buffers: 4, bufferSize: 20 }, multipliers: [1, 4] }];
}

function runsOf({ base, multipliers, dataset }: Setting, seeds: number): readonly PrivateRun[] {
  return Array.from({ length: seeds }, (_, n) => n + 1).flatMap((seed): PrivateRun[] => [
    { ...base, seed, noise: 'none', noiseMultiplier: 0 },
    ...multipliers.flatMap((noiseMultiplier): PrivateRun[] => [
      { ...base, seed, noise: 'distributed', noiseMultiplier },
      // If the model learns nothing, comparing a second setting would show nothing.
      ...(dataset === 'MNIST'
        ? (['authority', 'central'] as const).map((noise) => ({ ...base, seed, noise, noiseMultiplier }))
        : []),
    ]),
  ]);
}

interface Point {
  readonly epsilon: number;
  readonly accuracy: number;
  readonly spread: number;
}

function pointOf(
  finished: readonly FinishedRun[],
  noise: PrivateRun['noise'],
  noiseMultiplier: number,
): Point | undefined {
  const some = finished.filter(({ run }) => run.noise === noise && run.noiseMultiplier === noiseMultiplier);
  const [first] = some;
  if (first === undefined) return undefined;
  const accuracies = some.map(({ trained }) => trained.wholeAccuracy);
  const rho = noise === 'none' ? 0 : first.trained.inclusions * inclusionCost(noiseMultiplier);
  return { epsilon: epsilonOf(rho, DELTA), accuracy: mean(accuracies), spread: deviation(accuracies) };
}

function tableOf(setting: Setting, finished: readonly FinishedRun[]): Table {
  const { dataset, dimension, base, multipliers } = setting;
  const plain = pointOf(finished, 'none', 0);
  const inclusions = finished[0]?.trained.inclusions ?? 0;
  const shares = finished.map(({ trained }) => trained.clippedShare);
  return {
    title: `${dataset}, K = ${base.bufferSize}, d = ${dimension}, ${base.buffers} buffers, ${inclusions} inclusions a user, delta ${DELTA}`,
    columns: ['z', 'epsilon', 'noise of the devices', 'noise of the authority', 'noise of a trusted server'],
    rows: [
      ['none', 'without end', percentOf(plain), percentOf(plain), percentOf(plain)],
      ...multipliers.map((z) => {
        const [distributed, central] = [pointOf(finished, 'distributed', z), pointOf(finished, 'central', z)];
        return [
          String(z),
          (distributed ?? central)?.epsilon.toFixed(2) ?? '',
          percentOf(distributed),
          percentOf(pointOf(finished, 'authority', z)),
          percentOf(central),
        ];
      }),
    ],
    note: `${(100 * mean(shares)).toFixed(0)} % of the updates were longer than the clip of ${base.clip}.`,
  };
}

function percentOf(point: Point | undefined): string {
  return point === undefined ? '' : `${(100 * point.accuracy).toFixed(1)} % ± ${(100 * point.spread).toFixed(1)}`;
}

async function finish(setting: Setting, profile: Profile, own: TrainingRun): Promise<readonly FinishedRun[]> {
  if (own.datasets?.includes(setting.dataset) === false) return [];
  return runPrivately(runsOf(setting, Math.min(SEEDS[profile], own.seeds ?? Number.POSITIVE_INFINITY)), own);
}

function figureOf({ base, multipliers }: Setting, finished: readonly FinishedRun[]): Figure {
  const { bufferSize } = base;
  const names = {
    distributed: 'noise of the devices',
    authority: 'noise of the authority',
    central: 'noise of a server',
    none: 'no noise',
  } as const;
  return {
    name: bufferSize === LARGE.base.bufferSize ? `privacy-${bufferSize}` : 'privacy',
    title: `MNIST, logistic regression, K = ${bufferSize}: accuracy by epsilon (delta ${DELTA})`,
    x: 'epsilon of a device, lower is more private',
    y: 'accuracy',
    series: (['distributed', 'authority', 'central', 'none'] as const).map((noise) => ({
      name: names[noise],
      points: multipliers.flatMap((z) => {
        const epsilon = pointOf(finished, 'distributed', z)?.epsilon;
        const point = pointOf(finished, noise, noise === 'none' ? 0 : z);
        return point === undefined || epsilon === undefined ? [] : [[epsilon, point.accuracy] as const];
      }),
    })),
  };
}

export const privacy: Study = {
  name: 'privacy',
  title: 'Differential privacy: accuracy by epsilon, and its limits',
  cells: NO_CELLS,
  needs: () => ({ dimensions: [], profiles: [], codes: [], models: [] }),
  async run({ profile, own }) {
    const settings = settingsOf(profile);
    const results: (readonly FinishedRun[])[] = [];
    for (const setting of settings) results.push(await finish(setting, profile, own));
    const [mnist = []] = results;
    const cifar = results[settings.findIndex(({ dataset }) => dataset === 'CIFAR-10')] ?? [];
    const accuracyOf = (finished: readonly FinishedRun[], noise: PrivateRun['noise'], z: number): number | undefined =>
      pointOf(finished, noise, z)?.accuracy;
    const [setting] = settings as readonly [Setting];
    const [least = 1, most = 1] = [setting.multipliers[0], setting.multipliers.at(-1)];
    return {
      experiment: 'privacy',
      title: this.title,
      profile,
      rows: results.flat().map(({ run, trained }) => ({
        experiment: 'privacy',
        ...run,
        inclusions: trained.inclusions,
        epsilon:
          run.noise === 'none' ? null : epsilonOf(trained.inclusions * inclusionCost(run.noiseMultiplier), DELTA),
        accuracy: trained.wholeAccuracy,
        clippedShare: trained.clippedShare,
      })),
      tables: settings.flatMap((one, n) => (results[n]?.length ? [tableOf(one, results[n] ?? [])] : [])),
      figures: settings.flatMap((one, n) => (one.dataset === 'MNIST' ? [figureOf(one, results[n] ?? [])] : [])),
      orderings: [
        ordering('noise of the devices costs at most 3 points more than that of a trusted server', [
          ...setting.multipliers.map(
            (z) =>
              [`z = ${z}`, (accuracyOf(mnist, 'central', z) ?? 1) - 0.03, accuracyOf(mnist, 'distributed', z)] as const,
          ),
        ]),
        ordering('more noise, less accuracy', [
          [`z = ${most}`, accuracyOf(mnist, 'distributed', most), accuracyOf(mnist, 'distributed', least)],
        ]),
        ...(cifar.length === 0
          ? []
          : [
              ordering('a large model in small buffers learns less than half as much: CIFAR-10 at K = 10, z = 1', [
                ['CIFAR-10', accuracyOf(cifar, 'distributed', 1), (accuracyOf(cifar, 'none', 0) ?? 0) / 2],
              ]),
            ]),
      ],
      notes: [
        'Epsilon is the budget spent by a user that took part in every sum of its turn. Amplification by sampling is not counted.',
        'The noise of the devices allows for 20 % of them dropping out and 10 % revealing their noise. Neither happens here, so a sum has sqrt(K / 0.7 K) times the noise of a trusted server.',
        'Every buffer is trained on the newest model, and all weights are 1. Other experiments measure the cost of staleness.',
      ],
    };
  },
};
