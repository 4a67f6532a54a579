/** The noise of a task, and what it hides, in a sentence: the same in `plan`, `task create` and `task show`. */
import type { TaskPolicy } from '@basa/protocol';

/** What a sum of exact updates can show. */
export const NO_NOISE =
  'no noise: a server that chooses the model can read single examples out of a sum (docs/privacy.md)';

export async function noiseSentence(policy: Pick<TaskPolicy, 'privacy' | 'metrics' | 'oneShot'>): Promise<string> {
  const { epsilonBudget } = await import('@basa/protocol');
  const { privacy, oneShot } = policy;
  if (privacy === undefined) return NO_NOISE;
  const { noiseMultiplier, budget } = privacy;
  const epsilon = epsilonBudget(policy);
  return noiseText({
    noiseMultiplier,
    by: oneShot?.authorityNoise === true ? 'authority' : 'devices',
    epsilon,
    ...budget,
  });
}

export function noiseText(noise: {
  readonly noiseMultiplier: number;
  readonly by: 'devices' | 'authority';
  readonly epsilon?: number | undefined;
  readonly delta?: number;
  readonly participations?: number;
}): string {
  const { noiseMultiplier, by, epsilon, delta, participations } = noise;
  const added = `noise ${noiseMultiplier} of the ${by}`;
  return epsilon === undefined
    ? `blur (${added}): hides single examples from the known attacks, but not one-bit questions to all devices or averages over many versions`
    : `private (${added}): epsilon ${epsilon.toFixed(2)} at delta ${delta} for a device that takes part ${participations} times`;
}
