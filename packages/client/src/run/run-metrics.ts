/** The numbers of a training that the device reports if its task asks for them: training loss, scores before training, examples. The core measures `clipped`. */
import type { Evaluation, Samples, TrainResult } from '@basa/learning';
import { CLIPPED } from '@basa/protocol/policy';
import { SettingsError } from '../errors.ts';
import type { DeviceContext } from '../session/device-context.ts';

/**
 * Values for metrics that the client does not compute. It computes `loss`, `examples` and the scores of the trainer's evaluation, such as
 * `accuracy`.
 */
export type OwnMetrics = (result: TrainResult) => Readonly<Record<string, number>>;

/** For metrics that are scores, such as `accuracy` or `r2`. */
export type Evaluate = (parameters: Float32Array, samples: Samples) => Evaluation | Promise<Evaluation>;

const KNOWN: ReadonlySet<string> = new Set([CLIPPED.name, 'loss', 'examples']);

interface Round {
  readonly parameters: Float32Array;
  readonly data: Samples;
  readonly result: TrainResult;
  readonly own: OwnMetrics | undefined;
}

/** A device that cannot measure a metric of the task says so before its first training. Later, an update is sent whatever the numbers are. */
export function checkMetrics(
  { policy }: DeviceContext,
  trainer: { readonly evaluate?: Evaluate },
  own: OwnMetrics | undefined,
): void {
  if (own !== undefined || trainer.evaluate !== undefined) return;
  const missing = policy.metrics.filter(({ name }) => !KNOWN.has(name));
  if (missing.length > 0)
    throw new SettingsError(
      `the task asks for the metrics ${missing.map(({ name }) => name).join(', ')}; measure them in \`metrics\`, or give the trainer an evaluate()`,
    );
}

/** Computes only the metrics that the task names. */
export async function metricsOf(
  { policy }: DeviceContext,
  trainer: { readonly evaluate?: Evaluate },
  { parameters, data, result, own }: Round,
): Promise<Readonly<Record<string, number>>> {
  const names = new Set(policy.metrics.map(({ name }) => name));
  names.delete(CLIPPED.name);
  if (names.size === 0) return {};
  const told = own?.(result) ?? {};
  const known: Record<string, number> = { loss: result.loss, examples: result.samples, ...told };
  const isAsked = [...names].some((name) => !Object.hasOwn(known, name));
  const evaluation = isAsked ? await trainer.evaluate?.(parameters, data) : undefined;
  for (const [name, value] of Object.entries(evaluation ?? {})) if (value !== undefined) known[name] ??= value;
  for (const name of names) known[name] ??= Number.NaN;
  return known;
}
