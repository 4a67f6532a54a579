/** One step of descent in plain arithmetic. */

import type { Descent } from './backend.ts';
import { clipScale } from './clip.ts';

export interface DescendingWeights {
  readonly parameters: Float32Array | Float64Array;
  readonly velocity: Float32Array | Float64Array;
  readonly gradients: Float32Array | Float64Array;
}

export function descendInPlace(
  { parameters, velocity, gradients }: DescendingWeights,
  { learningRate, momentum, weightDecay, clipNorm }: Descent,
): void {
  let squares = 0;
  for (const value of gradients) squares += value * value;
  const scale = clipNorm === undefined ? 1 : clipScale(squares, clipNorm);
  for (let n = 0; n < parameters.length; n++) {
    const w = parameters[n] as number;
    const v = momentum * (velocity[n] as number) + (gradients[n] as number) * scale + weightDecay * w;
    velocity[n] = v;
    parameters[n] = w - learningRate * v;
  }
}
