/** The costs of a policy for a device and the effects of its noise, for `basa plan` and `basa task create`. */
import { elementBits, packedLength } from '@basa/masking';
import { OneShotRules, Privacy, type TaskPolicy } from '@basa/protocol/policy';
import { InputWords } from '@basa/protocol/wire';
import { fieldErrors, shown } from './statistics.ts';

export interface PolicyCosts {
  readonly bufferSize: number;
  readonly minimum: number;
  readonly noise: number;
  /** Of each word of an upload, or of a sum if the authority adds it, in steps of the quantiser; 0 without noise. */
  readonly deviation: number;
  readonly epsilon: number | undefined;
  readonly level: number;
  readonly bits: number;
  /** The number of seeds that a device encrypts, each of one mask. */
  readonly masks: number;
  readonly sealedBytes: number;
  readonly bytesPerUpload: number;
  /** Of a mean or of each bucket, by field of statistics. */
  readonly errors: Readonly<Record<string, number>>;
}

export function costsOf(policy: TaskPolicy): PolicyCosts {
  const { authorities, bufferSize, level, minimum, modulus, oneShot, privacy } = policy;
  if (oneShot === undefined) throw new Error('paper mode has no parts');
  const { sealing, tolerated } = oneShot;
  const masks = OneShotRules.partsOf(authorities.length, tolerated).length;
  const sealedBytes = masks * OneShotRules.sealedPartBytes(sealing, authorities.length - tolerated);
  return {
    ...{ bufferSize, minimum, level, masks, sealedBytes },
    noise: privacy?.noiseMultiplier ?? 0,
    deviation: Privacy.taskNoise(policy)?.deviation ?? 0,
    epsilon: Privacy.epsilonBudget(policy),
    bits: elementBits(modulus),
    bytesPerUpload: packedLength(InputWords.inputElements(policy), modulus) + sealedBytes,
    errors: Object.fromEntries(fieldErrors(policy).map(({ name, error }) => [name, error])),
  };
}

/** The promise of the noise in a sentence, and the cost of a participation if there is a budget. */
export function noisePrice(policy: TaskPolicy): readonly string[] {
  const { privacy, statistics } = policy;
  const promise = Privacy.noiseWords(policy).sentence;
  if (privacy?.budget === undefined || statistics !== undefined) return [promise];
  return [promise, `Each participation costs ${shown(Privacy.taskCost({ ...policy, privacy }))} of zCDP (rho).`];
}

/** Up to this noise over signal, the measured price is at most about a point. */
const CHEAP = 1.5;

/** Sentences about noise that promises little, hides little, or costs accuracy. */
export function noiseAdvice(policy: TaskPolicy): readonly string[] {
  const { bufferSize, dimension, privacy, statistics } = policy;
  if (privacy === undefined) return [];
  const { noiseMultiplier: z } = privacy;
  const epsilon = Privacy.epsilonBudget(policy) ?? 0;
  const advice: string[] = [];
  if (epsilon > Privacy.WEAK_EPSILON)
    advice.push(
      `epsilon ${epsilon.toFixed(1)} is a weak guarantee; lower --participations, or raise --noise to ${(2 * z).toPrecision(2)}`,
    );
  if (statistics !== undefined) return advice;
  const least = Math.max(100 * Privacy.BLURS_FROM, Math.ceil(Privacy.BLURS_FROM * Math.sqrt(dimension)));
  if (z < Privacy.BLURS_FROM)
    advice.push(
      `K = ${bufferSize} with noise ${z} is fine for a first try. With data of people, use a --buffer of at least ${least}, or --noise ${Privacy.BLURS_FROM} if the accuracy allows it: with less, a server that chooses the model can find single examples in its sums`,
    );
  const over = Privacy.noiseOverSignal(z, { bufferSize, dimension });
  if (over > CHEAP)
    advice.push(
      `the noise in a mean is ${over.toPrecision(2)} times as long as an update: a network that trains for hundreds of versions loses accuracy (docs/privacy.md); use a larger --buffer, a smaller model or a smaller --noise`,
    );
  return advice;
}
