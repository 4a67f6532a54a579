/** Our study: the effect of lying devices on the mean and on the trimmed mean over the sums of a version (one-shot mode). */
import { workerModule } from '@basa/runtime/node';
import type { LiarRun, LiarTrained } from '../liars/liar-run.ts';
import { deviation, mean, ordering, type Pair } from '../report/outcome.ts';
import { NO_CELLS, type Profile, type Study } from '../run/context.ts';
import { type Finished, runOwn } from '../run/own-runs.ts';

type FinishedRun = Finished<LiarRun, LiarTrained>;

const SHARES = [0, 0.005, 0.01, 0.02, 0.05] as const;
const COMBINATIONS = ['mean', 'trimmed'] as const;
const BASE: Omit<LiarRun, 'seed' | 'combine' | 'liars'> = {
  task: 'mnist',
  bufferSize: 10,
  sumsPerVersion: 5,
  versions: 60,
  rate: 1.4,
  learningRate: 0.03,
};
const SEEDS: Readonly<Record<Profile, number>> = { smoke: 1, small: 5, full: 30 };

function runsOf(profile: Profile, seeds: number): readonly LiarRun[] {
  const base = profile === 'smoke' ? { ...BASE, versions: 3 } : BASE;
  return Array.from({ length: Math.min(SEEDS[profile], seeds) }, (_, n) => n + 1).flatMap((seed) =>
    SHARES.flatMap((liars) => COMBINATIONS.map((combine): LiarRun => ({ ...base, seed, liars, combine }))),
  );
}

/** Errors on the test set of both, over the seeds that both have. */
function errorsOf(where: string, finished: readonly FinishedRun[], left: Chosen, right: Chosen): Pair {
  const pairs = finished.filter(isOf(left)).flatMap((ours) => {
    const theirs = finished.filter(isOf(right)).find(({ run }) => run.seed === ours.run.seed);
    return theirs === undefined ? [] : [[errorOf(ours), errorOf(theirs)] as const];
  });
  if (pairs.length === 0) return [where, undefined, undefined];
  const ratios = pairs.map(([a, b]) => a / b);
  return [where, mean(pairs.map(([a]) => a)), mean(pairs.map(([, b]) => b)), false, ratios];
}

type Chosen = Pick<LiarRun, 'combine' | 'liars'>;

function isOf({ combine, liars }: Chosen): (one: FinishedRun) => boolean {
  return ({ run }) => run.combine === combine && run.liars === liars;
}

function errorOf({ trained }: FinishedRun): number {
  return 1 - trained.wholeAccuracy;
}

function shownAccuracy(finished: readonly FinishedRun[]): string {
  const values = finished.map(({ trained }) => 100 * trained.wholeAccuracy);
  return values.length === 0 ? '' : `${mean(values).toFixed(1)} % ± ${deviation(values).toFixed(1)}`;
}

export const liars: Study = {
  name: 'liars',
  title: 'Devices that lie: the mean and the trimmed mean over the sums of a version',
  cells: NO_CELLS,
  needs: () => ({ dimensions: [], profiles: [], codes: [], models: [] }),
  async run({ profile, own }) {
    const wanted = own.isWanted('MNIST') ? runsOf(profile, own.seeds) : [];
    const finished = await runOwn<LiarRun, LiarTrained>(wanted, own, {
      kept: 'liars',
      worker: workerModule(import.meta.url, '../liars/liar-worker'),
      updatesOf: ({ versions, bufferSize, sumsPerVersion }) => versions * bufferSize * sumsPerVersion,
    });
    const { bufferSize, sumsPerVersion, versions } = BASE;
    return {
      experiment: 'liars',
      title: this.title,
      profile,
      rows: finished.map(({ run, trained }) => ({ experiment: 'liars', ...run, ...trained })),
      tables: [
        {
          title: `MNIST, ${versions} versions of H = ${sumsPerVersion} sums of K = ${bufferSize}: accuracy in the end`,
          columns: ['liars', 'sums with a liar', 'mean', 'trimmed mean'],
          rows: SHARES.map((share) => {
            const [plain, trimmed] = COMBINATIONS.map((combine) => finished.filter(isOf({ combine, liars: share })));
            const spoilt = mean((plain ?? []).map(({ trained }) => trained.spoiltSums));
            return [
              `${100 * share} %`,
              Number.isNaN(spoilt) ? '' : `${(100 * spoilt).toFixed(0)} %`,
              shownAccuracy(plain ?? []),
              shownAccuracy(trimmed ?? []),
            ];
          }),
        },
      ],
      figures: [],
      orderings: [
        ordering(
          'without liars the trimmed mean makes at most 1.10 times as many errors as the mean',
          [errorsOf('no liars', finished, { combine: 'trimmed', liars: 0 }, { combine: 'mean', liars: 0 })],
          1.1,
        ),
        ordering(
          'with one liar among 200 users the trimmed mean makes at most 1.25 times as many errors as without liars',
          [errorsOf('0.5 %', finished, { combine: 'trimmed', liars: 0.005 }, { combine: 'trimmed', liars: 0 })],
          1.25,
        ),
        ordering(
          'with liars the trimmed mean makes fewer errors than the mean',
          SHARES.filter((share) => share > 0).map((share) =>
            errorsOf(
              `${100 * share} %`,
              finished,
              { combine: 'trimmed', liars: share },
              { combine: 'mean', liars: share },
            ),
          ),
        ),
      ],
      notes: [
        'A liar sends its update with the opposite sign and a hundred times as long. Every entry is clipped to 1, as in new tasks. The same users lie all the time.',
        `The trimmed mean leaves out the largest and the smallest of ${sumsPerVersion} values, so it withstands one spoilt sum per version.`,
        'The code of the server combines the means.',
      ],
    };
  },
};
