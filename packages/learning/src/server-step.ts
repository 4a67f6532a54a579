/** What the server does with the mean of a buffer or of a round: descent, with momentum, or Adam's. */

/** Written into the model version by version; delta = start - end, so that a step subtracts. */
export interface ServerStep {
  /** Changes `parameters` in place by the mean delta. */
  applyInPlace(parameters: Float32Array, meanDelta: Float64Array | Float32Array): void;
  /**
   * What it must remember until the next step, for a checkpoint; empty where that is nothing. So many numbers for each
   * parameter one after the other: a part of the parameters goes with the same part of the memory.
   */
  memory(): Float64Array;
}

/** A step as data, for tasks that are written down. */
export type ServerStepOptions =
  | { readonly kind: 'fedbuff'; readonly rate: number }
  | { readonly kind: 'fedavg'; readonly rate: number; readonly momentum: number }
  | ({ readonly kind: 'fedadam' } & AdamOptions);

/** The step of these options, going on from the `memory` of a checkpoint. */
export function createServerStep(options: ServerStepOptions, memory?: Float64Array): ServerStep {
  switch (options.kind) {
    case 'fedbuff':
      return fedBuffStep(options.rate);
    case 'fedavg':
      return fedAvgStep(options, memory);
    case 'fedadam':
      return fedAdamStep(options, memory);
  }
}

/** FedBuff: w -= rate * mean. */
export function fedBuffStep(rate: number): ServerStep {
  return fedAvgStep({ rate, momentum: 0 });
}

/** FedAvg with server momentum: v = momentum v + mean; w -= rate v (fact sheet 1.6). */
export function fedAvgStep(
  { rate, momentum }: { readonly rate: number; readonly momentum: number },
  memory?: Float64Array,
): ServerStep {
  let velocity = memory?.slice();
  return {
    memory: () => (momentum === 0 ? new Float64Array() : (velocity?.slice() ?? new Float64Array())),
    applyInPlace(parameters, mean) {
      checkLengths(parameters, mean);
      velocity ??= new Float64Array(parameters.length);
      for (let n = 0; n < parameters.length; n++) {
        const v = momentum * (velocity[n] as number) + (mean[n] as number);
        velocity[n] = v;
        parameters[n] = (parameters[n] as number) - rate * v;
      }
    },
  };
}

export interface AdamOptions {
  readonly rate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  /** tau of Reddi et al. 2021, Algorithm 2: how adaptive the step is. */
  readonly adaptivity?: number;
}

/** FedAdam (Reddi et al. 2021): m, v start at 0 and are not bias-corrected; w -= rate m / (sqrt(v) + adaptivity). */
export function fedAdamStep(
  { rate, beta1 = 0.9, beta2 = 0.99, adaptivity = 1e-3 }: AdamOptions,
  memory?: Float64Array,
): ServerStep {
  /** m and v of each parameter. */
  let moments = memory?.slice();
  return {
    memory: () => moments?.slice() ?? new Float64Array(),
    applyInPlace(parameters, mean) {
      checkLengths(parameters, mean);
      moments ??= new Float64Array(2 * parameters.length);
      for (let n = 0; n < parameters.length; n++) {
        const delta = mean[n] as number;
        const m = beta1 * (moments[2 * n] as number) + (1 - beta1) * delta;
        const v = beta2 * (moments[2 * n + 1] as number) + (1 - beta2) * delta * delta;
        moments[2 * n] = m;
        moments[2 * n + 1] = v;
        parameters[n] = (parameters[n] as number) - (rate * m) / (Math.sqrt(v) + adaptivity);
      }
    },
  };
}

function checkLengths(parameters: Float32Array, mean: ArrayLike<number>): void {
  if (parameters.length !== mean.length) {
    throw new RangeError(`a mean of ${mean.length} for a model of ${parameters.length} parameters`);
  }
}
