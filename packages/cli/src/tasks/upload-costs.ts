/** Cost of one contribution for a device: masks that it expands, bytes that it sends, milliseconds to encrypt its seeds. */
import { quantizerOf } from '@basa/client/operator';
import { elementBits, type Modulus, packedLength } from '@basa/masking';
import {
  councilSizeProblem,
  defaultThreshold,
  mostTolerated,
  partsOf,
  SEALINGS,
  type Sealing,
  sealedPartBytes,
} from '@basa/protocol/policy';
import { inputElements } from '@basa/protocol/wire';
import { withKem } from '@basa/runtime/kem';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type PartTrialOptions, partTrial } from '@basa/simulator';
import { CommandError } from '../shell/command.ts';

export interface UploadCost {
  /** The number of seeds that a device encrypts, each of one mask. */
  readonly masks: number;
  readonly sealedBytes: number;
  readonly bytesPerUpload: number;
  /** The number of authorities that may collude. */
  readonly tolerated: number;
}

export interface PlannedTask {
  readonly dimension: number;
  readonly modulus: Modulus;
  readonly authorities: number;
  readonly threshold: number | undefined;
  readonly tolerated: number | undefined;
  readonly sealing: Sealing;
}

/** Throws if no such task is possible. */
export function uploadCost(task: PlannedTask): UploadCost {
  const { authorities, dimension, modulus, sealing, threshold = defaultThreshold(authorities) } = task;
  const keys = Array.from({ length: authorities }, () => new Uint8Array(32));
  const council = { authorities: keys, threshold };
  const { tolerated = mostTolerated(council) } = task;
  const problem = councilSizeProblem(council, tolerated);
  if (problem !== undefined) throw new CommandError(`this task is not possible: ${problem}`);
  const masks = partsOf(authorities, tolerated).length;
  const sealedBytes = masks * sealedPartBytes(sealing, authorities - tolerated);
  const elements = inputElements({ dimension, metrics: [] });
  return { masks, sealedBytes, bytesPerUpload: packedLength(elements, modulus) + sealedBytes, tolerated };
}

/** The buffer sizes of a comparison. */
const SIZES = [10, 32, 100, 320, 1000, 10_000];

export interface SizeCost extends UploadCost {
  readonly bufferSize: number;
  readonly bits: number;
}

/** Without noise, for the usual buffer sizes and the one of the task: a larger sum needs wider entries. */
export function costsBySize({
  bufferSize: own,
  ...task
}: Omit<PlannedTask, 'modulus'> & { readonly bufferSize: number; readonly clip: number }): readonly SizeCost[] {
  const sizes = [...new Set([...SIZES, own])].sort((a, b) => a - b);
  return sizes.map((bufferSize) => {
    const { modulus } = quantizerOf({ bufferSize, clip: task.clip });
    return { bufferSize, bits: elementBits(modulus), ...uploadCost({ ...task, modulus }) };
  });
}

interface PartCost {
  readonly sealedBytes: number;
  /** For a device, all parts of an upload. */
  readonly sealMs: number;
  /** For an authority, the parts of an upload that it holds. */
  readonly openMs: number;
}

export type SealingCosts = Readonly<Record<Sealing, PartCost>>;

/** The cost of each sealing, measured here and now. */
export function sealingCosts(authorities: number, { tolerated }: UploadCost): SealingCosts {
  const costs = SEALINGS.map((sealing) => [sealing, measureParts({ authorities, tolerated, sealing })]);
  return Object.fromEntries(costs) as SealingCosts;
}

function measureParts(options: PartTrialOptions): PartCost {
  const trial = partTrial({ suite: withKem(nodeSuite), randomBytes: nodeRandomBytes }, options);
  return { sealedBytes: trial.sealedBytes, sealMs: best(trial.seal), openMs: best(trial.open) };
}

const TURNS = 5;
/** Short work is repeated for at least this long, so that it is timed warm. */
const MIN_MS = 30;

function best(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  const first = performance.now();
  for (let turn = 0; turn < TURNS || performance.now() - first < MIN_MS; turn++) {
    const began = performance.now();
    work();
    least = Math.min(least, performance.now() - began);
  }
  return least;
}
