/** The noise of a task for people: who adds it, and what it hides. Commands, pages and clients say the same. */
import type { OneShotPolicy } from './one-shot/policy.ts';
import { epsilonBudget, type PrivacyPolicy } from './privacy.ts';

/** From this z on, known traps read no single example (docs/threat-model.md). */
export const BLURS_FROM = 0.05;
/** A larger epsilon promises little. */
export const WEAK_EPSILON = 20;

interface NoisyPolicy {
  readonly privacy: Pick<PrivacyPolicy, 'noiseMultiplier' | 'colluders' | 'budget'> | undefined;
  readonly metrics: readonly unknown[];
  readonly oneShot: Pick<OneShotPolicy, 'authorityNoise'> | undefined;
  /** Missing or undefined in a task with a model. */
  readonly statistics?: object | undefined;
}

export interface NoiseWords {
  /** Blur is noise without a budget. */
  readonly kind: 'none' | 'blur' | 'private';
  /** z; 0 without noise. */
  readonly noiseMultiplier: number;
  readonly by: 'nobody' | 'devices' | 'authority';
  /** All of it, with what it hides and what not. */
  readonly sentence: string;
}

const EXACT_MODEL = 'a server that chooses the model can read single examples out of a sum';
const FAINT = 'too little to hide single examples from a server that chooses the model';
const BLURRED =
  'hides single examples from most attacks that were tried, but not one-bit questions to all devices, amplified words, or averages over many versions';
const EXACT_STATISTICS = 'exact sums of changing groups can reveal single values';

export function noiseWords(policy: NoisyPolicy): NoiseWords {
  const { privacy, oneShot } = policy;
  if (privacy === undefined)
    return {
      kind: 'none',
      noiseMultiplier: 0,
      by: 'nobody',
      sentence: `no noise: ${policy.statistics === undefined ? EXACT_MODEL : EXACT_STATISTICS}`,
    };
  const { noiseMultiplier, budget } = privacy;
  const by = oneShot?.authorityNoise === true ? 'authority' : 'devices';
  const added = `noise ${noiseMultiplier}, added by the ${by}`;
  if (budget === undefined)
    return {
      kind: 'blur',
      noiseMultiplier,
      by,
      sentence: `blur (${added}): ${noiseMultiplier < BLURS_FROM ? FAINT : BLURRED}`,
    };
  const { delta, participations } = budget;
  const epsilon = epsilonBudget(policy) as number;
  return {
    kind: 'private',
    noiseMultiplier,
    by,
    sentence: `private (${added}): epsilon ${epsilon.toFixed(2)} at delta ${delta} for a device in ${participations} sums${epsilon > WEAK_EPSILON ? ', a weak guarantee' : ', which bounds what all of them reveal about it'}`,
  };
}
