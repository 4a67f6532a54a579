/** The numbers of a training that the device reports if its task asks for them: training loss, scores before training, examples. */
import type { Evaluation, Samples, TrainResult } from '@basa/learning';
import type { DeviceContext } from '../session/device-context.ts';

/**
 * Values for metrics that the client does not compute. It computes `loss`, `examples` and the scores of the trainer's evaluation, such as
 * `accuracy`.
 */
export type OwnMetrics = (result: TrainResult) => Readonly<Record<string, number>>;

/** For metrics that are scores, such as `accuracy` or `r2`. */
export type Evaluate = (parameters: Float32Array, samples: Samples) => Evaluation | Promise<Evaluation>;

interface Round {
  readonly parameters: Float32Array;
  readonly data: Samples;
  readonly result: TrainResult;
  readonly own: OwnMetrics | undefined;
}

/** Computes only the metrics that the task names. */
export async function metricsOf(
  { policy }: DeviceContext,
  trainer: { readonly evaluate?: Evaluate },
  { parameters, data, result, own }: Round,
): Promise<Readonly<Record<string, number>>> {
  const names = new Set(policy.metrics.map(({ name }) => name));
  if (names.size === 0) return {};
  const told = own?.(result) ?? {};
  const known: Record<string, number> = { loss: result.loss, examples: result.samples, ...told };
  const isAsked = [...names].some((name) => !Object.hasOwn(known, name));
  const evaluation = isAsked ? await trainer.evaluate?.(parameters, data) : undefined;
  for (const [name, value] of Object.entries(evaluation ?? {})) if (value !== undefined) known[name] ??= value;
  return known;
}
