/**
 * Sealing and opening as work in batches, done synchronously or asynchronously, here or in another thread. Browsers compute key agreements
 * asynchronously. All other platforms do it synchronously.
 */
import { DecodeError } from '@basa/masking';
import type { Registration, Slot } from './brands.ts';
import type { BufferSealing, EdgeUse, PartKey, SealedBuffer } from './sealing.ts';

/** One seed, for a slot or for the close. */
type Seal =
  | { readonly to: Slot; readonly use: EdgeUse; readonly seed: Uint8Array }
  | { readonly to: 'self'; readonly registration: Registration; readonly seed: Uint8Array };

export interface SealWork {
  readonly kind: 'seal';
  readonly buffer: SealedBuffer;
  readonly seals: readonly Seal[];
}

/** Seeds sealed to a slot, with the keys that authorities claim are theirs for it. */
export interface OpenWork {
  readonly kind: 'open';
  readonly buffer: SealedBuffer;
  readonly slot: Slot;
  readonly keys: readonly PartKey[];
  readonly entries: readonly { readonly sealed: Uint8Array; readonly use: EdgeUse }[];
}

export type SealingWork = SealWork | OpenWork;

/** One for each seal or entry; undefined for an entry that does not open. No result at all if too few keys are the slot's. */
export type SealingResult = readonly (Uint8Array | undefined)[] | undefined;

/** Requests work until it has everything it needs. */
export type SealingSteps<Result> = Generator<SealingWork, Result, SealingResult>;

export function doSealing(sealing: BufferSealing, work: SealingWork): SealingResult {
  const { buffer } = work;
  if (work.kind === 'seal') {
    return work.seals.map((seal) =>
      seal.to === 'self'
        ? sealing.sealSelf(buffer, seal.registration, seal.seed)
        : sealing.sealEdge(buffer, seal.to, seal.use, seal.seed),
    );
  }
  try {
    const open = sealing.edgeOpener(buffer, work.slot, work.keys);
    return open && work.entries.map(({ sealed, use }) => open(sealed, use));
  } catch (error) {
    // The bytes are not a key of CP-ABE at all.
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Runs the steps with everything done synchronously. */
export function sealedAtOnce<Result>(sealing: BufferSealing, steps: SealingSteps<Result>): Result {
  let next = steps.next();
  while (next.done !== true) next = steps.next(doSealing(sealing, next.value));
  return next.value;
}

/** Runs the steps with everything done by `work`. */
export async function sealedBy<Result>(
  work: (asked: SealingWork) => Promise<SealingResult>,
  steps: SealingSteps<Result>,
): Promise<Result> {
  let next = steps.next();
  while (next.done !== true) next = steps.next(await work(next.value));
  return next.value;
}
