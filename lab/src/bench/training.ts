/** Samples per second of the four models on one core and on all cores, compared with the matrix product of the same kernel. */
import { availableParallelism } from 'node:os';
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import { bestInTurn } from './measure.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { formatTable } from './table.ts';
import { BATCH, gemmCeiling, MODELS, type ModelName, stepMultiplyAdds, trainingStep } from './training-setup.ts';
import type { StepTask } from './training-worker.ts';

const NAMES = Object.keys(MODELS) as ModelName[];
const GEMM_RUNS = 10;
/** Steps in a row of a quick model, so that the clock does not matter. */
const REPEATS: Readonly<Record<ModelName, number>> = { logistic: 50, femnist: 1, flsim: 1, cifar: 1 };

interface Rates {
  readonly name: ModelName;
  readonly oneCore: number;
  readonly shareOfGemm: number;
  readonly allCores: number;
  /** Undefined if this Node hides relaxed SIMD. */
  readonly relaxed: number | undefined;
}

export async function benchTraining({ quick }: BenchOptions): Promise<BenchResult> {
  const ceiling = gemmCeiling();
  if (ceiling === undefined) throw new Error('this Node has no wasm SIMD');
  const best: Readonly<Record<string, number>> = bestInTurn(
    { gemm: () => repeat(ceiling.run, GEMM_RUNS), ...stepsWith('plain'), ...stepsWith('relaxed') },
    quick ? 1 : 8,
  );
  const msOf = (name: string): number => best[name] ?? Number.NaN;
  const gemmGflops = (2 * GEMM_RUNS * ceiling.multiplyAdds) / msOf('gemm') / 1e6;
  const together = await ratesTogether(quick ? 100 : 2000);
  const rates = NAMES.map((name): Rates => {
    const rateWith = (kernel: string): number => (1000 * BATCH * REPEATS[name]) / msOf(`${kernel} ${name}`);
    const [oneCore, relaxed] = [rateWith('plain'), rateWith('relaxed')];
    const shareOfGemm = (2 * oneCore * stepMultiplyAdds(MODELS[name])) / 1e9 / gemmGflops;
    return { name, oneCore, shareOfGemm, allCores: together[name], relaxed: relaxed > 0 ? relaxed : undefined };
  });
  const workers = availableParallelism();
  const text = [
    `Training steps of ${BATCH} examples, wasm SIMD, best of several. Numbers are samples per second. The ceiling is the same kernel's`,
    `matrix product in the same run: ${gemmGflops.toFixed(1)} GFLOP/s on one core.`,
    '',
    formatTable(
      ['model', 'one core', 'of GEMM', `${workers} workers`, 'relaxed'],
      rates.map(({ name, oneCore, shareOfGemm, allCores, relaxed }) => [
        `${MODELS[name].name} (d = ${MODELS[name].dimension.toLocaleString('en')})`,
        oneCore.toFixed(0),
        `${(100 * shareOfGemm).toFixed(0)} %`,
        allCores.toFixed(0),
        relaxed?.toFixed(0) ?? '-',
      ]),
    ),
    ...(rates.some(({ relaxed }) => relaxed === undefined)
      ? ['', 'This Node has no relaxed SIMD: its V8 hides it behind a flag. Node 22 and newer have it.']
      : []),
  ].join('\n');
  // A model of one small product does not measure the ceiling.
  const shareOfGemm = Math.min(...rates.filter(({ name }) => name !== 'logistic').map((one) => one.shareOfGemm));
  return { text, json: { training: { gemmGflops, shareOfGemm, workers, rates } } };
}

/** Nothing if this Node cannot run them. `relaxed`: with fused multiply-add. */
function stepsWith(kernel: 'plain' | 'relaxed'): Readonly<Record<string, () => void>> {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const step = trainingStep(MODELS[name], kernel === 'relaxed');
      return step === undefined ? [] : [[`${kernel} ${name}`, () => repeat(step, REPEATS[name])]];
    }),
  );
}

/** One worker per core, all training the same model at the same time. */
async function ratesTogether(forMs: number): Promise<Readonly<Record<ModelName, number>>> {
  const size = availableParallelism();
  const pool = createWorkerPool<StepTask, number>({ ...workerModule(import.meta.url, './training-worker'), size });
  const rates = { logistic: 0, femnist: 0, flsim: 0, cifar: 0 };
  for (const model of NAMES) {
    const each = await Promise.all(Array.from({ length: size }, () => pool.run({ model, forMs })));
    rates[model] = BATCH * each.reduce((sum, rate) => sum + rate, 0);
  }
  await pool.close();
  return rates;
}

function repeat(run: () => void, times: number): void {
  for (let n = 0; n < times; n++) run();
}
