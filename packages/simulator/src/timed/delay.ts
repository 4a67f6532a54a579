/** The delay of a trip in addition to its training, in seconds, with the distributions of FLSim, FedBuff and the paper. */
import type { RandomStream } from '@basa/learning';

export type Delay =
  | { readonly kind: 'none' }
  /** The paper's: mean beta. */
  | { readonly kind: 'exponential'; readonly mean: number }
  /** FedBuff's: |N(0, scale)|. */
  | { readonly kind: 'half-normal'; readonly scale: number }
  /** Phones: exp(N(ln median, sigma)). */
  | { readonly kind: 'lognormal'; readonly median: number; readonly sigma: number }
  /** A tail without variance for a shape of 2 or less: least / U^(1 / shape). */
  | { readonly kind: 'pareto'; readonly least: number; readonly shape: number }
  /** FLSim's: examples times N(mean, deviation), at least `least` each. */
  | { readonly kind: 'per-example'; readonly mean: number; readonly deviation: number; readonly least: number };

/** The scale multiplies one draw of the stream: the same trip under another scale is the same draw. */
export function drawDelay(delay: Delay, stream: RandomStream, examples: number): number {
  switch (delay.kind) {
    case 'none':
      return 0;
    case 'exponential':
      return delay.mean * stream.exponential();
    case 'half-normal':
      return delay.scale * Math.abs(stream.normal());
    case 'lognormal':
      return delay.median * Math.exp(delay.sigma * stream.normal());
    case 'pareto':
      // An exponential draw is -ln U.
      return delay.least * Math.exp(stream.exponential() / delay.shape);
    case 'per-example':
      return examples * Math.max(delay.mean + delay.deviation * stream.normal(), delay.least);
  }
}
