/** Samples per second of the four models on one core and on all, beside the matrix product of the same kernel. */
import { availableParallelism } from 'node:os';
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import { timeInTurn } from './measure.ts';
import type { BenchResult } from './result.ts';
import { formatTable } from './table.ts';
import { BATCH, gemmCeiling, MODELS, type ModelName, stepMultiplyAdds, trainingStep } from './training-setup.ts';
import type { StepTask } from './training-worker.ts';

const NAMES = Object.keys(MODELS) as ModelName[];
/** The reported share of the ceiling is the worst of these; a model of one small product does not measure it. */
const CNNS = ['femnist', 'flsim', 'cifar'] as const;
const GEMM_RUNS = 10;
const TOGETHER_MS = 2000;

/** Steps per sample of a quick model, so that the clock does not matter. */
const REPEATS: Readonly<Record<ModelName, number>> = { logistic: 50, femnist: 1, flsim: 1, cifar: 1 };

export async function benchTraining(): Promise<BenchResult> {
  const ceiling = gemmCeiling();
  if (ceiling === undefined) throw new Error('this Node has no wasm SIMD');
  const { gemm, ...steps } = timeInTurn({ gemm: () => repeat(ceiling.run, GEMM_RUNS), ...plainSteps() }, 8);
  const gemmGflops = (2 * GEMM_RUNS * ceiling.multiplyAdds) / gemm.bestMs / 1e6;
  const relaxed = relaxedRates();
  const together = await ratesTogether();
  const rates = perModel((name) => (1000 * BATCH * REPEATS[name]) / steps[name].bestMs);
  const shareOfGemm = perModel((name) => (2 * rates[name] * stepMultiplyAdds(MODELS[name])) / 1e9 / gemmGflops);
  const cores = availableParallelism();
  const rows = NAMES.map((name) => [
    `${MODELS[name].name} (d = ${MODELS[name].dimension.toLocaleString('en')})`,
    rates[name].toFixed(0),
    `${(100 * shareOfGemm[name]).toFixed(0)} %`,
    together[name].toFixed(0),
    relaxed?.[name].toFixed(0) ?? '-',
  ]);
  const text = [
    `Training steps of ${BATCH} examples, wasm SIMD, best of several. Samples a second; the ceiling is the same kernel's`,
    `matrix product in the same run: ${gemmGflops.toFixed(1)} GFLOP/s on one core.`,
    '',
    formatTable(['model', 'one core', 'of GEMM', `${cores} workers`, 'relaxed'], rows),
    ...(relaxed === undefined ? ['', 'This Node has no relaxed SIMD (Node 22 has).'] : []),
  ].join('\n');
  const rounded = (values: Record<ModelName, number>) => perModel((name) => round(values[name]));
  return {
    text,
    json: {
      training: {
        ...rounded(rates),
        gemmGflops: round(gemmGflops),
        shareOfGemm: round(Math.min(...CNNS.map((name) => shareOfGemm[name]))),
        shareByModel: rounded(shareOfGemm),
        together: { workers: cores, ...rounded(together) },
        ...(relaxed !== undefined && { relaxed: rounded(relaxed) }),
      },
    },
  };
}

function plainSteps(): Record<ModelName, () => void> {
  return perModel((name) => {
    const step = trainingStep(MODELS[name]);
    if (step === undefined) throw new Error('this Node has no wasm SIMD');
    return () => repeat(step, REPEATS[name]);
  });
}

/** With fused multiply-add, if the engine has it. */
function relaxedRates(): Record<ModelName, number> | undefined {
  if (trainingStep(MODELS.logistic, true) === undefined) return undefined;
  const steps = perModel((name) => {
    const step = trainingStep(MODELS[name], true) ?? (() => undefined);
    return () => repeat(step, REPEATS[name]);
  });
  const timings = timeInTurn(steps, 4);
  return perModel((name) => (1000 * BATCH * REPEATS[name]) / timings[name].bestMs);
}

/** One worker per core, all training the same model at the same time. */
async function ratesTogether(): Promise<Record<ModelName, number>> {
  const size = availableParallelism();
  const pool = createWorkerPool<StepTask, number>({ ...workerModule(import.meta.url, './training-worker'), size });
  const rates = perModel(() => 0);
  for (const model of NAMES) {
    const each = await Promise.all(Array.from({ length: size }, () => pool.run({ model, forMs: TOGETHER_MS })));
    rates[model] = BATCH * each.reduce((sum, rate) => sum + rate, 0);
  }
  await pool.close();
  return rates;
}

function perModel<Value>(of: (name: ModelName) => Value): Record<ModelName, Value> {
  return Object.fromEntries(NAMES.map((name) => [name, of(name)])) as Record<ModelName, Value>;
}

function repeat(run: () => void, times: number): void {
  for (let n = 0; n < times; n++) run();
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}
