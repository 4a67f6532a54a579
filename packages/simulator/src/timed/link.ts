/** The network time of a user, from counted bytes. */

export interface Link {
  readonly upBitsPerSecond: number;
  readonly downBitsPerSecond: number;
  /** One way. */
  readonly latencySeconds: number;
}

/** The paper's simulation: all processes on one host. */
export const NO_NETWORK: Link = {
  upBitsPerSecond: Number.POSITIVE_INFINITY,
  downBitsPerSecond: Number.POSITIVE_INFINITY,
  latencySeconds: 0,
};

export function upSeconds({ upBitsPerSecond, latencySeconds }: Link, bytes: number): number {
  return latencySeconds + (8 * bytes) / upBitsPerSecond;
}

export function downSeconds({ downBitsPerSecond, latencySeconds }: Link, bytes: number): number {
  return latencySeconds + (8 * bytes) / downBitsPerSecond;
}
