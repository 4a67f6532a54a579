/** The numbers that a training tells where its task asks for them: training loss, accuracy before training, examples. */
import type { Evaluation, Samples, TrainResult } from '@basa/learning';
import type { DeviceContext } from '../session/device-context.ts';

/** Numbers for metrics that the client does not know by itself (it knows `loss`, `accuracy` and `examples`). */
export type OwnMetrics = (result: TrainResult) => Readonly<Record<string, number>>;

/** For the metric `accuracy`. */
export type Evaluate = (parameters: Float32Array, samples: Samples) => Evaluation | Promise<Evaluation>;

interface Round {
  readonly parameters: Float32Array;
  readonly data: Samples;
  readonly result: TrainResult;
  readonly own: OwnMetrics | undefined;
}

/** Only what the task names is made. */
export async function metricsOf(
  { pins: { policy } }: DeviceContext,
  trainer: { readonly evaluate?: Evaluate },
  { parameters, data, result, own }: Round,
): Promise<Readonly<Record<string, number>>> {
  const names = new Set(policy.metrics.map(({ name }) => name));
  if (names.size === 0) return {};
  const told = own?.(result) ?? {};
  const isAsked = names.has('accuracy') && !Object.hasOwn(told, 'accuracy');
  const evaluation = isAsked ? await trainer.evaluate?.(parameters, data) : undefined;
  return {
    loss: result.loss,
    examples: result.samples,
    ...(evaluation !== undefined && { accuracy: evaluation.accuracy }),
    ...told,
  };
}
