/** The delay of a trip in addition to its training, in seconds, with the distributions of the paper and of FedBuff. */
import type { RandomStream } from '@basa/learning';

export type Delay =
  | { readonly kind: 'none' }
  /** The paper's: mean beta. */
  | { readonly kind: 'exponential'; readonly mean: number }
  /** FedBuff's: |N(0, scale)|. */
  | { readonly kind: 'half-normal'; readonly scale: number }
  /** Phones: exp(N(ln median, sigma)). */
  | { readonly kind: 'lognormal'; readonly median: number; readonly sigma: number };

/** The scale multiplies one draw of the stream: the same trip under another scale is the same draw. */
export function drawDelay(delay: Delay, stream: RandomStream): number {
  switch (delay.kind) {
    case 'none':
      return 0;
    case 'exponential':
      return delay.mean * stream.exponential();
    case 'half-normal':
      return delay.scale * Math.abs(stream.normal());
    case 'lognormal':
      return delay.median * Math.exp(delay.sigma * stream.normal());
  }
}
