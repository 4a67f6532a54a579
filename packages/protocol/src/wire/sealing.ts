/**
 * The port through which the seeds of a buffer are sealed, and the authority's side of it. Two engines implement it: slot keys
 * (`slot-sealing.ts`) and the paper's CP-ABE (`attribute-sealing.ts`).
 *
 * Every slot has an edge key. It opens the seeds that earlier users sealed to the slot, and the backups of the slot's own seeds that later
 * users made. Every registration of a user for a slot has a self key. For each slot the authority gives out one of these keys, never both.
 */
import { isSlotKey, slotSealedBytes } from '@basa/masking';
import type { Ctx, JoinTag, Registration, Slot } from './brands.ts';
import type { BufferPart, Descriptor } from './descriptor.ts';
import { ENGINE } from './policy.ts';

/** The buffer that a seed is sealed in. */
export interface SealedBuffer {
  readonly ctx: Ctx;
  readonly descriptor: Pick<Descriptor, 'threshold' | 'parts' | 'bufferSize'>;
  /**
   * S E_0 .. E_{K-1} of every part of the descriptor, one list after the other, as the authorities published them;
   * empty with CP-ABE, whose public key is in the descriptor.
   */
  readonly slotKeys: Uint8Array;
}

/** The key of one authority for its part. */
export interface PartKey {
  /** Its index. */
  readonly authority: number;
  readonly key: Uint8Array;
}

/** The purpose of a seed under an edge key, and the user that sealed it. */
export interface EdgeUse {
  readonly role: 'edge' | 'backup';
  readonly joinTag: JoinTag;
}

/** Returns the seed, or undefined if the bytes were not sealed to this slot for this use. */
export type EdgeOpener = (sealed: Uint8Array, use: EdgeUse) => Uint8Array | undefined;

export interface BufferSealing {
  readonly name: string;
  /** Length of every sealed seed. */
  readonly sealedBytes: number;
  /** The number of its first bytes that name a sealed self seed to the authority. */
  readonly selfNameBytes: number;
  sealEdge(buffer: SealedBuffer, slot: Slot, use: EdgeUse, seed: Uint8Array): Uint8Array;
  /**
   * Keys that are not valid for this slot do not count. If too few valid keys are left, returns undefined. This is a fault of the
   * authorities.
   */
  edgeOpener(buffer: SealedBuffer, slot: Slot, keys: readonly PartKey[]): EdgeOpener | undefined;
  sealSelf(buffer: SealedBuffer, registration: Registration, seed: Uint8Array): Uint8Array;
  /**
   * Opens with the keys that the authorities released for the slot. Sets of the threshold size are tried in this order,
   * those with the first ones first.
   */
  openSelf(
    buffer: SealedBuffer,
    registration: Registration,
    sealed: Uint8Array,
    released: readonly PartKey[],
  ): OpenedSelf | undefined;
}

export interface OpenedSelf {
  readonly seed: Uint8Array;
  /** The authorities whose keys opened it, by index. */
  readonly by: readonly number[];
}

/** The inputs of the keys of a buffer. */
export interface KeySource extends Pick<Descriptor, 'task' | 'bufferSize'> {
  readonly offer: Uint8Array;
}

/** The keys of one buffer, at the authority. */
export interface BufferKeys {
  /** Of the slot's edges and backups. */
  edge(slot: Slot): Uint8Array;
  /** Returns the key of the self seed with this name and registration, and no other; undefined if there can be no such seed. */
  self(registration: Registration, selfName: Uint8Array): Uint8Array | undefined;
}

/** Holds the secret of one authority for one task and key epoch, and returns the same keys each time. */
export interface BufferIssuer {
  /** Names the key epoch. */
  readonly publicKey: Uint8Array;
  /** The list that goes with a buffer's descriptor. It yields after each key. */
  slotKeys(source: KeySource): Generator<undefined, Uint8Array>;
  /** The descriptor's field about the keys. */
  sealingKey(slotKeys: Uint8Array): Uint8Array;
  keysOf(buffer: { readonly ctx: Ctx; readonly authority: number; readonly source: KeySource }): BufferKeys;
  /** 32 bytes that only the holder of the secret can derive, for the label. The caller may overwrite them. */
  derive(label: Uint8Array): Uint8Array;
}

/** The name of the key epoch in a part of a descriptor. */
export function epochKeyOf(
  { engine }: Pick<Descriptor, 'engine'>,
  { sealingKey }: Pick<BufferPart, 'sealingKey'>,
): Uint8Array {
  return engine === ENGINE.slotKeys ? sealingKey.subarray(0, EPOCH_KEY_BYTES) : sealingKey;
}

const CP_ABE_SEALED_BYTES = 240;

/**
 * Length of a sealed seed on the wire, in a buffer with parts of this many authorities. Undefined for an unknown engine, or one without
 * encryption.
 */
export function sealedBytesOf(engine: number, parts = 1): number | undefined {
  if (engine === ENGINE.slotKeys) return slotSealedBytes(parts);
  return engine === ENGINE.cpAbe ? CP_ABE_SEALED_BYTES : undefined;
}

/** True if this can name a self seed in the buffer: with slot keys a valid point, otherwise nothing. */
export function isSelfName({ engine }: Pick<Descriptor, 'engine'>, selfName: Uint8Array): boolean {
  return engine === ENGINE.slotKeys ? isSlotKey(selfName) : selfName.length === 0;
}

/** Of slot keys: before the hash of the list. */
export const EPOCH_KEY_BYTES = 32;

/** Runs steps to their result without interruption. */
export function allSteps<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
