/**
 * The server's step with the mean of a buffer or of a round: descent, with momentum, or Adam's, damped by age.
 *
 *     w <- w - rate * D(age) * step(mean)          D(age) = (1 + age)^-p
 *
 * `age` is the mean TRUE age of the updates: the number of versions made since they were trained. D multiplies the rate
 * after momentum or Adam, never the mean: Adam would cancel it. With p = 1 the step stays below the critical step
 * 2 sin(pi / (2 (2 age + 1))) at every constant age while the gain of one step is at most 1.5, so training may be slow but
 * cannot swing apart. p = 1/2 with equal ages is FedBuff's weight (Nguyen et al. 2022), which is unstable at large ages.
 */
import { power } from '../numbers/exact-math.ts';

/** p of D(age), or `none` for the paper's own text. */
export type Damping = 'none' | number;

export const DEFAULT_DAMPING: Damping = 1;

/** D(age) in (0, 1]. */
export function dampingFactor(damping: Damping, meanAge: number): number {
  if (!(meanAge >= 0 && meanAge < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`a mean age is a number >= 0, got ${meanAge}`);
  }
  return damping === 'none' ? 1 : power(1 + meanAge, -damping);
}

/** Written into the model version by version; delta = start - end, so that a step subtracts. */
export interface ServerStep {
  /** Changes `parameters` in place by the mean delta. `meanAge` is 0 if the mean itself is damped by single ages. */
  applyInPlace(parameters: Float32Array, meanDelta: Float64Array | Float32Array, meanAge?: number): void;
  /**
   * The state until the next step, for a checkpoint. Empty if there is no state. Each parameter has the same number of values, in the order
   * of the parameters, so that a range of the parameters has a matching range of the state.
   */
  memory(): Float64Array;
}

/** A step as data, for tasks that are written down. */
export type ServerStepOptions =
  | ({ readonly kind: 'fedbuff' } & StepRate)
  | ({ readonly kind: 'fedavg' } & MomentumOptions)
  | ({ readonly kind: 'fedadam' } & AdamOptions);

interface StepRate {
  readonly rate: number;
  readonly damping?: Damping;
}

export interface MomentumOptions extends StepRate {
  readonly momentum: number;
}

/** Returns the step of these options, continuing from the `memory` of a checkpoint. */
export function createServerStep(options: ServerStepOptions, memory?: Float64Array): ServerStep {
  switch (options.kind) {
    case 'fedbuff':
      return fedAvgStep({ ...options, momentum: 0 });
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

/** FedAvg with server momentum: v = momentum v + mean; w -= rate v (as PyTorch's SGD: no dampening, no Nesterov). */
export function fedAvgStep(
  { rate, momentum, damping = DEFAULT_DAMPING }: MomentumOptions,
  memory?: Float64Array,
): ServerStep {
  let velocity = memory?.slice();
  return {
    memory: () => (momentum === 0 ? new Float64Array() : (velocity?.slice() ?? new Float64Array())),
    applyInPlace(parameters, mean, meanAge = 0) {
      checkLengths(parameters, mean);
      const dampedRate = rate * dampingFactor(damping, meanAge);
      velocity ??= new Float64Array(parameters.length);
      for (let n = 0; n < parameters.length; n++) {
        const v = momentum * (velocity[n] as number) + (mean[n] as number);
        velocity[n] = v;
        parameters[n] = (parameters[n] as number) - dampedRate * v;
      }
    },
  };
}

export interface AdamOptions extends StepRate {
  readonly beta1?: number;
  readonly beta2?: number;
  /** tau of Reddi et al. 2021, Algorithm 2: how adaptive the step is. */
  readonly adaptivity?: number;
}

/** FedAdam (Reddi et al. 2021): m, v start at 0 and are not bias-corrected; w -= rate m / (sqrt(v) + adaptivity). */
export function fedAdamStep(
  { rate, beta1 = 0.9, beta2 = 0.99, adaptivity = 1e-3, damping = DEFAULT_DAMPING }: AdamOptions,
  memory?: Float64Array,
): ServerStep {
  /** m and v of each parameter. */
  let moments = memory?.slice();
  return {
    memory: () => moments?.slice() ?? new Float64Array(),
    applyInPlace(parameters, mean, meanAge = 0) {
      checkLengths(parameters, mean);
      const dampedRate = rate * dampingFactor(damping, meanAge);
      moments ??= new Float64Array(2 * parameters.length);
      for (let n = 0; n < parameters.length; n++) {
        const delta = mean[n] as number;
        const m = beta1 * (moments[2 * n] as number) + (1 - beta1) * delta;
        const v = beta2 * (moments[2 * n + 1] as number) + (1 - beta2) * delta * delta;
        moments[2 * n] = m;
        moments[2 * n + 1] = v;
        parameters[n] = (parameters[n] as number) - (dampedRate * m) / (Math.sqrt(v) + adaptivity);
      }
    },
  };
}

function checkLengths(parameters: Float32Array, mean: ArrayLike<number>): void {
  if (parameters.length !== mean.length) {
    throw new RangeError(`a mean of ${mean.length} for a model of ${parameters.length} parameters`);
  }
}
