/** Cost by buffer size for a device in each mode: masks that it expands, and bytes that it sends. */
import { mostTolerated, quantizerOf } from '@basa/client/operator';
import { elementBits, type Modulus, packedLength, slotSealedBytes } from '@basa/masking';
import {
  defaultThreshold,
  ONE_SHOT_DEFAULTS,
  oneShotProblem,
  partsOf,
  prefixElements,
  SEALINGS,
  type Sealing,
  sealedPartBytes,
} from '@basa/protocol';
import { measureParts, type PartCost } from '../demo/contribution.ts';
import { MOST_UPDATES, type ModeChoice } from '../flags/modes.ts';

export interface ModeCost {
  readonly masks: number;
  readonly sealedBytes: number;
  readonly bytesPerUpload: number;
  /** One-shot: the number of seeds a device seals, and the number of authorities that may collude. */
  readonly parts?: number;
  readonly tolerated?: number;
}

export type ModeCosts = Readonly<Record<ModeChoice, ModeCost | { readonly impossible: string }>>;

export interface PlannedTask {
  readonly bufferSize: number;
  readonly dimension: number;
  readonly modulus: Modulus;
  readonly authorities: number;
  readonly threshold: number | undefined;
  readonly unchecked: boolean;
  readonly sealing: Sealing;
}

export type SealingCosts = Readonly<Record<Sealing, PartCost>>;

/** The cost of each sealing of the one-shot mode, measured here and now; undefined if the mode is impossible. */
export function sealingCosts({ authorities }: { authorities: number }, modes: ModeCosts): SealingCosts | undefined {
  const cost = modes['one-shot'];
  if ('impossible' in cost) return undefined;
  const { tolerated = 0 } = cost;
  const costs = SEALINGS.map((sealing) => [sealing, measureParts({ authorities, tolerated, sealing })]);
  return Object.fromEntries(costs) as SealingCosts;
}

export function modeCosts(task: PlannedTask): ModeCosts {
  return { sealed: sealedCost(task), 'one-shot': shotCost(task) };
}

/** The buffer sizes of a comparison. */
const SIZES = [10, 32, 100, 320, 1000, 10_000];

export interface SizeCosts {
  readonly bufferSize: number;
  readonly bits: number;
  readonly modes: ModeCosts;
}

/** Without noise, for the usual buffer sizes and the one of the task. */
export function costsBySize(task: Omit<PlannedTask, 'modulus'> & { readonly clip: number }): readonly SizeCosts[] {
  const sizes = [...new Set([...SIZES, task.bufferSize])].sort((a, b) => a - b);
  return sizes.map((bufferSize) => {
    const { modulus } = quantizerOf({ bufferSize, clip: task.clip });
    return { bufferSize, bits: elementBits(modulus), modes: modeCosts({ ...task, bufferSize, modulus }) };
  });
}

/** With slot keys, in the last slot of a buffer, which has the most work. */
function sealedCost(task: PlannedTask): ModeCosts[ModeChoice] {
  const { bufferSize, authorities } = task;
  const most = MOST_UPDATES.sealed;
  if (bufferSize > most) return { impossible: `a buffer has at most ${most} slots` };
  return costOf(task, bufferSize, bufferSize * slotSealedBytes(authorities));
}

function shotCost(task: PlannedTask): ModeCosts[ModeChoice] {
  const { authorities, unchecked, sealing, threshold = defaultThreshold(authorities) } = task;
  const keys = Array.from({ length: authorities }, () => new Uint8Array(32));
  const council = { authorities: keys, threshold, unsafeThreshold: false };
  const oneShot = { ...ONE_SHOT_DEFAULTS, uncheckedSums: unchecked, sealing };
  const tolerated = mostTolerated(council, oneShot);
  const impossible = oneShotProblem(council, { ...oneShot, tolerated }, false);
  if (impossible !== undefined) return { impossible };
  const parts = partsOf(authorities, tolerated).length;
  return { ...costOf(task, parts, parts * sealedPartBytes(sealing, authorities - tolerated)), parts, tolerated };
}

function costOf({ dimension, modulus }: PlannedTask, masks: number, sealedBytes: number): ModeCost {
  const elements = dimension + prefixElements({ metrics: [], versions: 'one' });
  return { masks, sealedBytes, bytesPerUpload: packedLength(elements, modulus) + sealedBytes };
}
