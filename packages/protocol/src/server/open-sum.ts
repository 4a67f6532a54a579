/** Opens the sum of a closed buffer: the seeds that the released keys open, as a mask plan over the sum of the uploads. */
import { equalBytes, type MaskTerm, Secret, type Suite } from '@basa/masking';
import type { ReleasedKey, UploadHeader } from '../wire/authority-messages.ts';
import type { Slot } from '../wire/brands.ts';
import { toleratedOf } from '../wire/council.ts';
import type { Descriptor } from '../wire/descriptor.ts';
import { commitmentOf, registrationOf } from '../wire/naming.ts';
import type { BufferSealing, EdgeUse, OpenedSelf, PartKey } from '../wire/sealing.ts';
import type { SealedParts } from '../wire/upload-layout.ts';
import type { Deposit, SealedSeed } from '../wire/user-messages.ts';
import type { BufferSlot, SecureBuffer } from './secure-buffer.ts';

/** The store's data of one accepted slot, besides the vector. */
export interface StoredUpload extends SealedParts {
  readonly header: UploadHeader;
}

/** The keys that one authority released. */
export interface KeysOf {
  /** Its index. */
  readonly authority: number;
  readonly keys: readonly ReleasedKey[];
}

export interface OpeningInput {
  readonly suite: Suite;
  readonly sealing: BufferSealing;
  readonly buffer: SecureBuffer;
  /** The keys that the authorities released. */
  readonly keys: readonly KeysOf[];
  /** Stored deposits by slot; those of slots that are accepted and not opened here may be missing. */
  readonly deposits: readonly (Deposit | undefined)[];
  /** The accepted slots whose seeds are opened; all of them by default. The terms of shares add up to those of all. */
  readonly slots?: readonly Slot[];
  uploadOf(slot: Slot): StoredUpload;
}

export type Opening =
  | { readonly kind: 'opening'; readonly terms: readonly MaskTerm[] }
  /** A seed did not open or did not match its commitment. */
  | {
      readonly kind: 'unopened';
      /** The slots that sealed it, and cheated. */
      readonly cheated: readonly Slot[];
      /** Either these slots cheated, or an authority gave a wrong pad: the answers of more authorities decide it. */
      readonly unsure: readonly Slot[];
    };

/**
 * sum_{l in A} [ y_l - PRG(b_l) - sum_{j>l, j not in A} PRG(s_lj) + sum_{i<l, i not in A, i not void for l} PRG(s_il) ]
 * = sum_{l in A} x'_l: the terms behind the y_l. Throws if the authority gave a key that is not the slot's.
 */
export function openingTerms(input: OpeningInput): Opening {
  const { sealing, buffer } = input;
  const released = releasedBySlot(input.keys);
  const slots = input.slots ?? buffer.accepted;
  const isAccepted = new Set<number>(buffer.accepted);
  const keysOf = (slot: Slot, role: ReleasedKey['role']): readonly PartKey[] => {
    const keys = released.get(`${role} ${slot}`) ?? [];
    if (keys.length < buffer.descriptor.threshold)
      throw new Error(`the buffer was closed without enough ${role} keys of slot ${slot}`);
    return keys;
  };
  const terms: MaskTerm[] = [];
  const cheats = new Set<Slot>();
  const take = (seed: Uint8Array | undefined, sign: 1 | -1, by: Slot): void => {
    if (seed === undefined) cheats.add(by);
    else terms.push({ seed: new Secret(seed), sign });
  };
  const unsure: Slot[] = [];
  let credible: readonly number[] = [];
  for (const slot of slots) {
    const pads = keysOf(slot, 'self');
    if (!isSelfAsSigned(input, slot)) cheats.add(slot);
    else {
      const self = selfSeed(input, slot, credibleFirst(pads, credible));
      if (self === undefined && pads.length < padsToBlame(buffer.descriptor)) unsure.push(slot);
      else take(self?.seed, -1, slot);
      credible = self?.by ?? credible;
    }
  }
  const wanted = slots.flatMap((slot) => wantedSeeds(input, isAccepted, slot));
  // Seeds under one key follow each other, so that it is read and checked once for all of them.
  for (const [slot, seeds] of bySlot(wanted)) {
    const open = sealing.edgeOpener(buffer, slot, keysOf(slot, 'edge'));
    if (open === undefined) throw new Error(`too few of the keys that were released for slot ${slot} are its own`);
    for (const { sealed, commitment, use, sign, by } of seeds) {
      const seed = open(sealed, use);
      const isMeant = seed !== undefined && equalBytes(commitmentOf(input.suite, seed), commitment);
      take(isMeant ? seed : undefined, sign, by);
    }
  }
  if (cheats.size === 0 && unsure.length === 0) return { kind: 'opening', terms };
  for (const { seed } of terms) seed.wipe();
  return { kind: 'unopened', cheated: [...cheats].sort((a, b) => a - b), unsure };
}

/**
 * The number of pads that prove a self seed bad: t of them belong to authorities that do not collude, for any f that
 * do. An edge key is checked against the published list; a pad is checked only against the seed, so with fewer pads an
 * authority's lie looks like the device's.
 */
function padsToBlame(descriptor: Descriptor): number {
  return descriptor.threshold + Math.max(0, toleratedOf(descriptor));
}

/** True if the sealed self seed is the one that the device signed. */
function isSelfAsSigned({ sealing, uploadOf }: OpeningInput, slot: Slot): boolean {
  const { header, self } = uploadOf(slot);
  return equalBytes(self.subarray(0, sealing.selfNameBytes), header.selfName);
}

/**
 * First tries the keys of the authorities that opened the last seed, so that a lying authority costs one search, not one for every slot.
 */
function credibleFirst(pads: readonly PartKey[], credible: readonly number[]): readonly PartKey[] {
  const isCredible = ({ authority }: PartKey): boolean => credible.includes(authority);
  return [...pads.filter(isCredible), ...pads.filter((pad) => !isCredible(pad))];
}

/** b of an accepted slot, from its upload. */
function selfSeed(
  { suite, sealing, buffer, uploadOf }: OpeningInput,
  slot: Slot,
  released: readonly PartKey[],
): OpenedSelf | undefined {
  const { ticket } = buffer.slots[slot] as BufferSlot;
  return sealing.openSelf(buffer, registrationOf(suite, ticket), uploadOf(slot).self, released);
}

function releasedBySlot(released: readonly KeysOf[]): ReadonlyMap<string, readonly PartKey[]> {
  const found = new Map<string, PartKey[]>();
  for (const { authority, keys } of released) {
    for (const { slot, role, key } of keys) {
      const name = `${role} ${slot}`;
      const known = found.get(name);
      if (known === undefined) found.set(name, [{ authority, key }]);
      else known.push({ authority, key });
    }
  }
  return found;
}

interface WantedSeed extends SealedSeed {
  /** The slot whose edge key opens it. */
  readonly slot: Slot;
  readonly use: EdgeUse;
  readonly sign: 1 | -1;
  /** The slot that sealed it. */
  readonly by: Slot;
}

function bySlot(wanted: readonly WantedSeed[]): ReadonlyMap<Slot, readonly WantedSeed[]> {
  const groups = new Map<Slot, WantedSeed[]>();
  for (const seed of wanted) {
    const group = groups.get(seed.slot);
    if (group === undefined) groups.set(seed.slot, [seed]);
    else group.push(seed);
  }
  return groups;
}

/**
 * The seeds that an accepted slot shares with slots that are not accepted: for later slots from its deposit, for earlier slots from its
 * backups.
 */
function wantedSeeds(
  { buffer, deposits, uploadOf }: OpeningInput,
  isAccepted: ReadonlySet<number>,
  slot: Slot,
): readonly WantedSeed[] {
  const { joinTag } = (buffer.slots[slot] as BufferSlot).ticket;
  const edges = (deposits[slot] as Deposit).entries.slice(slot).flatMap((entry, n): WantedSeed[] => {
    const later = (slot + 1 + n) as Slot;
    return isAccepted.has(later) ? [] : [{ ...entry, slot: later, use: { role: 'edge', joinTag }, sign: -1, by: slot }];
  });
  const { header, backups } = uploadOf(slot);
  const isVoid = new Set<number>(header.voids);
  const opened = Array.from({ length: slot }, (_, i) => i as Slot).filter((i) => !isVoid.has(i));
  const mended = opened.flatMap((earlier, n): WantedSeed[] => {
    if (isAccepted.has(earlier)) return [];
    // Checked against the commitment of the seed's maker.
    const { commitment } = (deposits[earlier] as Deposit).entries[slot - 1] as SealedSeed;
    const sealed = backups[n] as Uint8Array;
    return [{ commitment, sealed, slot: earlier, use: { role: 'backup', joinTag }, sign: 1, by: slot }];
  });
  return [...edges, ...mended];
}
