/** The lines of a policy that only the one-shot mode has, and the parts of a mask that follow from them. */
import { holderSealedBytes, hybridSealedBytes } from '@basa/masking';
import { type Council, councilSizeProblem } from './council.ts';
import { checked, type Field, flag, MAX_SUMS, oneOf, optional, record, u8, u16, u32 } from './fields.ts';

/** `x25519+mlkem768` also withstands quantum computers: a seed stays closed while either of the two is unbroken. */
export const SEALINGS = ['x25519', 'x25519+mlkem768'] as const;
export type Sealing = (typeof SEALINGS)[number];

/** Returns whether holders have an ML-KEM key in addition to the X25519 key. */
export function isHybrid(sealing: Sealing): boolean {
  return sealing === 'x25519+mlkem768';
}

export function sealedPartBytes(sealing: Sealing, holders: number): number {
  return isHybrid(sealing) ? hybridSealedBytes(holders) : holderSealedBytes(holders);
}

/**
 * The combination of the means of the batches that make one version: `mean` weights them by examples and age; `trimmed`
 * leaves out the smallest and largest values of each coordinate, so that a few batches that liars spoilt unnoticed
 * cannot pull the model away.
 */
const COMBINATIONS = ['mean', 'trimmed'] as const;
type Combination = (typeof COMBINATIONS)[number];

/** With fewer batches a trimmed mean would leave out most of their values. */
export const LEAST_TRIMMED = 5;

export interface OneShotPolicy {
  /** f: the number of authorities that may collude with the server without learning a single update. */
  readonly tolerated: number;
  /** In a private task with one authority: it adds the noise to the sum of the masks, and the devices add none. */
  readonly authorityNoise: boolean;
  /** The time for which uploads may name an epoch key, and after that in which a batch may still be voted for. */
  readonly epochMs: number;
  /** The number of updates of a step, from as many batches as that needs. */
  readonly stepUpdates: number;
  /** After this time, or if nobody else comes, the step takes what there is. */
  readonly stepWindowMs: number;
  /**
   * m: a batch may mix versions of the model if each of them is named by this many of its uploads. Without it, all
   * uploads of a batch name the same one.
   */
  readonly versionMinimum: number | undefined;
  /** A device gives updates no more often than this. */
  readonly minIntervalMs: number;
  /** An update is masked and sent at a multiple of this after the download of its model, however long its training took; 0 is at once. */
  readonly departMs: number;
  /** How the means of the batches of a step become one; `trimmed` needs at least 5 K updates in a step. */
  readonly combine: Combination;
  /** The scheme with which devices seal the seeds of their masks to the authorities. */
  readonly sealing: Sealing;
}

export const ONE_SHOT_DEFAULTS: OneShotPolicy = {
  tolerated: 0,
  authorityNoise: false,
  epochMs: 3_600_000,
  stepUpdates: 1,
  stepWindowMs: 3_600_000,
  versionMinimum: undefined,
  minIntervalMs: 0,
  departMs: 0,
  combine: 'mean',
  sealing: 'x25519',
};

/** Of 8 authorities of which 2 may collude. */
export const MAX_PARTS = 28;

const duration = checked(u32, (value) => (value > 0 ? undefined : 'must be at least a millisecond'));

export const oneShotField: Field<OneShotPolicy | undefined> = optional(
  record<OneShotPolicy>({
    tolerated: u8,
    authorityNoise: flag,
    epochMs: duration,
    stepUpdates: u32,
    stepWindowMs: duration,
    versionMinimum: optional(u16),
    minIntervalMs: u32,
    departMs: u32,
    combine: oneOf(COMBINATIONS),
    sealing: oneOf(SEALINGS),
  }),
);

/** The number of holders of a part that must sign the same sum of masks. */
export function vouchersOf({ tolerated }: OneShotPolicy): number {
  return tolerated + 1;
}

interface BatchedTask extends Council {
  readonly bufferSize: number;
  readonly minimum: number;
}

/** Returns a sentence that says why these lines cannot be used with these authorities and batches, or undefined. */
export function oneShotProblem(task: BatchedTask, oneShot: OneShotPolicy): string | undefined {
  const { bufferSize, minimum } = task;
  const { tolerated, stepUpdates, versionMinimum = minimum, combine } = oneShot;
  const [least, most] = [combine === 'trimmed' ? LEAST_TRIMMED * bufferSize : 1, MAX_SUMS * bufferSize];
  if (!(Number.isInteger(stepUpdates) && stepUpdates >= least && stepUpdates <= most))
    return `stepUpdates must be from ${least} to ${most} (${combine} of batches of ${bufferSize}), got ${stepUpdates}`;
  if (!(Number.isInteger(versionMinimum) && versionMinimum >= 1 && versionMinimum <= minimum))
    return `versionMinimum must be from 1 to minimum (${minimum}), got ${versionMinimum}`;
  return councilSizeProblem(task, tolerated);
}

/**
 * A part of a mask: a set of f authorities that must not know its seed, written as a bit mask; the other n - f hold it. The f authorities
 * that collude miss exactly the part that names them, and with it every mask.
 */
export type Part = number;

/** All sets of `tolerated` out of `authorities`, by rising bit mask. A single authority holds the only part 0. Empty if there are fewer authorities. */
export function partsOf(authorities: number, tolerated: number): readonly Part[] {
  if (tolerated === 0) return [0];
  const parts: Part[] = [];
  // From one set to the next (Gosper): most numbers in between have another number of bits.
  for (let mask = 2 ** tolerated - 1; mask < 2 ** authorities; ) {
    parts.push(mask);
    const lowest = mask & -mask;
    const carried = mask + lowest;
    mask = carried | (((carried ^ mask) >>> 2) / lowest);
  }
  return parts;
}

/** The parts of a policy on which its mask parts depend. */
interface PartedTask {
  readonly authorities: readonly Uint8Array[];
  readonly oneShot: { readonly tolerated: number } | undefined;
}

/** The parts of a task. Throws if it is not in the one-shot mode. */
export function taskParts(task: PartedTask): readonly Part[] {
  return partsOf(task.authorities.length, oneShotOf(task).tolerated);
}

/** The fields of a policy that only the one-shot mode has. Throws if they are missing. */
export function oneShotOf<Lines>({ oneShot }: { readonly oneShot: Lines | undefined }): Lines {
  if (oneShot === undefined) throw new Error('the task is not of the one-shot mode');
  return oneShot;
}

/** True if the authority with this index holds the seed of the part. */
export function isHolder(part: Part, authority: number): boolean {
  return ((part >> authority) & 1) === 0;
}
