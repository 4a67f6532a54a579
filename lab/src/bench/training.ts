/** Samples per second of the four models on one core and on all cores, compared with the matrix product of the same kernel. */
import { availableParallelism } from 'node:os';
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import { type Timing, timeInTurn } from './measure.ts';
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
  const [plain, fused] = [stepsWith('equal bits'), stepsWith('relaxed')];
  if (plain === undefined) throw new Error('this Node has no wasm SIMD');
  const times = timeInTurn(
    {
      gemm: () => repeat(ceiling.run, GEMM_RUNS),
      ...plain,
      ...perRelaxed((name) => fused?.[name] ?? (() => undefined)),
    },
    8,
  );
  const gemmGflops = (2 * GEMM_RUNS * ceiling.multiplyAdds) / times.gemm.bestMs / 1e6;
  const rateOf = (name: ModelName, { bestMs }: Timing): number => (1000 * BATCH * REPEATS[name]) / bestMs;
  const together = await ratesTogether();
  const rates = perModel((name) => rateOf(name, times[name]));
  const relaxed = fused && perModel((name) => rateOf(name, times[`relaxed ${name}`]));
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
    `Training steps of ${BATCH} examples, wasm SIMD, best of several. Numbers are samples per second. The ceiling is the same kernel's`,
    `matrix product in the same run: ${gemmGflops.toFixed(1)} GFLOP/s on one core.`,
    '',
    formatTable(['model', 'one core', 'of GEMM', `${cores} workers`, 'relaxed'], rows),
    ...(relaxed === undefined
      ? ['', 'This Node has no relaxed SIMD: its V8 hides it behind a flag. Node 22 and newer have it.']
      : []),
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

/** `relaxed`: with fused multiply-add. Undefined if this Node cannot run them. */
function stepsWith(kernel: 'equal bits' | 'relaxed'): Record<ModelName, () => void> | undefined {
  const steps = NAMES.map((name) => [name, trainingStep(MODELS[name], kernel === 'relaxed')] as const);
  if (steps.some(([, step]) => step === undefined)) return undefined;
  const byName = new Map(steps);
  return perModel((name) => () => repeat(byName.get(name) ?? (() => undefined), REPEATS[name]));
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

function perRelaxed<Value>(of: (name: ModelName) => Value): Record<`relaxed ${ModelName}`, Value> {
  return Object.fromEntries(NAMES.map((name) => [`relaxed ${name}`, of(name)])) as Record<
    `relaxed ${ModelName}`,
    Value
  >;
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
