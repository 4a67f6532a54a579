/**
 * Plans the restarts of services in a soak test, and measures how their memory grows between restarts, because restarts would hide a leak.
 */
import type { Role } from '@basa/cli/internal/local/service-process.ts';
import type { Sample } from './samples.ts';

const MAX_RESTARTS = 8;

/** Half of the restarts are in the first third of the buffers, and half in the last third. Both services run undisturbed in between. */
export function restartsAt(buffers: number, most: number = MAX_RESTARTS): readonly number[] {
  const count = Math.min(most, Math.floor(buffers / 2));
  const first = Math.ceil(count / 2);
  const third = buffers / 3;
  return Array.from({ length: count }, (_, n) =>
    n < first ? ((n + 1) * third) / (first + 1) : 2 * third + ((n - first + 1) * third) / (count - first + 1),
  );
}

export interface Life {
  readonly role: Role;
  readonly fromBuffer: number;
  readonly toBuffer: number;
  /** Least squares over the second half of a life, because memory that a process allocates after its start is not a leak. */
  readonly kilobytesPerBuffer: number;
}

/** The longest life of each service. */
export function longestLives(samples: readonly Sample[]): readonly Life[] {
  const longest = (role: Role): Life => {
    const lives = new Map<number, Sample[]>();
    for (const sample of samples)
      lives.set(sample[`${role}Life`], [...(lives.get(sample[`${role}Life`]) ?? []), sample]);
    const spanOf = (life: readonly Sample[]): number => (life.at(-1)?.buffers ?? 0) - (life[0]?.buffers ?? 0);
    const life = [...lives.values()].reduce((a, b) => (spanOf(b) > spanOf(a) ? b : a), []);
    const [fromBuffer, toBuffer] = [life[0]?.buffers ?? 0, life.at(-1)?.buffers ?? 0];
    const grown = life.filter(({ buffers }) => buffers >= (fromBuffer + toBuffer) / 2);
    const points = grown.map((sample) => [sample.buffers, sample[`${role}Megabytes`] * 1024] as const);
    return { role, fromBuffer, toBuffer, kilobytesPerBuffer: slopeOf(points) };
  };
  return [longest('server'), longest('authority')];
}

function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
}
