/** Opens the sum of a closed buffer: the seeds the released keys open, as a mask plan over the sum of the uploads. */
import type { MaskTerm, SeedSealing, Suite } from '@basa/masking';
import { equalBytes, firstOutOfRange, quantizedBound, Secret } from '@basa/masking';
import type { ReleasedKey, UploadHeader } from '../wire/authority-messages.ts';
import type { Slot } from '../wire/brands.ts';
import { commitmentOf, sealingContext } from '../wire/naming.ts';
import type { PrefixVerdict } from '../wire/prefix.ts';
import { judgePrefix, prefixElements } from '../wire/prefix.ts';
import type { DescriptorBody } from '../wire/statements.ts';
import type { Deposit, SealedSeed } from '../wire/user-messages.ts';
import type { BufferSlot, SecureBuffer } from './secure-buffer.ts';

/** What the store holds of one accepted slot, besides the vector. */
export interface StoredUpload {
  readonly header: UploadHeader;
  readonly backups: readonly Uint8Array[];
}

export interface OpeningInput {
  readonly suite: Suite;
  readonly sealing: SeedSealing;
  readonly buffer: SecureBuffer;
  readonly keys: readonly ReleasedKey[];
  /** Stored deposits by slot. */
  readonly deposits: readonly Deposit[];
  /** The accepted slots whose seeds are opened; all of them by default. The terms of shares add up to those of all. */
  readonly slots?: readonly Slot[];
  uploadOf(slot: Slot): StoredUpload;
}

export type Opening =
  | { readonly kind: 'opening'; readonly terms: readonly MaskTerm[] }
  /** A seed did not open or missed its commitment: whoever sealed it cheated. */
  | { readonly kind: 'cheated'; readonly slots: readonly Slot[] };

/**
 * sum_{l in A} [ y_l - PRG(b_l) - sum_{j>l, j not in A} PRG(s_lj) + sum_{i<l, i not in A, i not void for l} PRG(s_il) ]
 * = sum_{l in A} x'_l: the terms behind the y_l.
 */
export function openingTerms(input: OpeningInput): Opening {
  const keys = new Map(input.keys.map(({ slot, role, key }) => [`${role} ${slot}`, key]));
  const isAccepted = new Set<number>(input.buffer.accepted);
  const keyOf: KeyOf = (slot, role) => {
    const key = keys.get(`${role} ${slot}`);
    if (key === undefined) throw new Error(`the authority closed the buffer without the ${role} key of slot ${slot}`);
    return key;
  };
  const wanted = (input.slots ?? input.buffer.accepted).flatMap((slot) =>
    wantedSeeds({ ...input, isAccepted, keyOf }, slot),
  );
  const terms: MaskTerm[] = [];
  const cheats = new Set<Slot>();
  for (const { sealed, commitment, key, context, sign, by } of byKey(wanted)) {
    const seed = input.sealing.open(sealed, key, context);
    if (seed === undefined || !equalBytes(commitmentOf(input.suite, seed), commitment)) cheats.add(by);
    else terms.push({ seed: new Secret(seed), sign });
  }
  if (cheats.size === 0) return { kind: 'opening', terms };
  for (const { seed } of terms) seed.wipe();
  return { kind: 'cheated', slots: [...cheats].sort((a, b) => a - b) };
}

type KeyOf = (slot: number, role: ReleasedKey['role']) => Uint8Array;

interface OpeningWork extends OpeningInput {
  readonly isAccepted: ReadonlySet<number>;
  readonly keyOf: KeyOf;
}

interface WantedSeed extends SealedSeed {
  readonly key: Uint8Array;
  readonly context: Uint8Array;
  readonly sign: 1 | -1;
  /** Who sealed it. */
  readonly by: Slot;
}

/** Seeds under one key follow each other: a sealing decodes and checks the key once for all of them. */
function byKey(wanted: readonly WantedSeed[]): readonly WantedSeed[] {
  const groups = new Map<Uint8Array, WantedSeed[]>();
  for (const seed of wanted) {
    const group = groups.get(seed.key) ?? [];
    group.push(seed);
    groups.set(seed.key, group);
  }
  return [...groups.values()].flat();
}

function wantedSeeds(work: OpeningWork, slot: Slot): readonly WantedSeed[] {
  const { buffer, deposits, isAccepted, keyOf } = work;
  const { ctx } = buffer;
  const { joinTag } = (buffer.slots[slot] as BufferSlot).ticket;
  const { entries } = deposits[slot] as Deposit;

  const self: WantedSeed = {
    ...(entries.at(-1) as SealedSeed),
    key: keyOf(slot, 'self'),
    context: sealingContext(ctx, 'self', joinTag, 0),
    sign: -1,
    by: slot,
  };
  const edges = entries.slice(slot, -1).flatMap((entry, n): WantedSeed[] => {
    const later = slot + 1 + n;
    if (isAccepted.has(later)) return [];
    return [
      { ...entry, key: keyOf(later, 'edge'), context: sealingContext(ctx, 'edge', joinTag, later), sign: -1, by: slot },
    ];
  });
  return [self, ...edges, ...wantedBackups(work, slot)];
}

/** s_il of dropped slots i, from the backups of l: mended by l's own word, held to the commitment of i. */
function wantedBackups(
  { buffer, deposits, isAccepted, keyOf, uploadOf }: OpeningWork,
  slot: Slot,
): readonly WantedSeed[] {
  const { header, backups } = uploadOf(slot);
  const { joinTag } = header;
  const isVoid = new Set<number>(header.voids);
  const opened = Array.from({ length: slot }, (_, i) => i as Slot).filter((i) => !isVoid.has(i));
  return opened.flatMap((earlier, n): WantedSeed[] => {
    if (isAccepted.has(earlier)) return [];
    const { commitment } = (deposits[earlier] as Deposit).entries[slot - 1] as SealedSeed;
    return [
      {
        commitment,
        sealed: backups[n] as Uint8Array,
        key: keyOf(earlier, 'drop'),
        context: sealingContext(buffer.ctx, 'backup', joinTag, earlier),
        sign: 1,
        by: slot,
      },
    ];
  });
}

type Quarantine = Extract<PrefixVerdict, { kind: 'quarantine' }>;

export type SumVerdict = (Extract<PrefixVerdict, { kind: 'good' }> & { readonly sum: Uint32Array }) | Quarantine;

/** The words before the coordinates are as they should be, and every coordinate is in range. */
export function judgeSum(descriptor: DescriptorBody, total: Uint32Array, accepted: number): SumVerdict {
  const prefix = judgePrefix(descriptor, total, accepted);
  if (prefix.kind === 'quarantine') return prefix;
  const sum = total.subarray(prefixElements(descriptor));
  return judgeCoordinates(descriptor, sum, accepted) ?? { ...prefix, sum };
}

/** Coordinates from number `first` on; undefined where all of them are in range. */
export function judgeCoordinates(
  descriptor: DescriptorBody,
  coordinates: Uint32Array,
  accepted: number,
  first = 0,
): Quarantine | undefined {
  const offender = firstOutOfRange(coordinates, descriptor.modulus, accepted * quantizedBound(descriptor));
  return offender < 0 ? undefined : { kind: 'quarantine', why: `coordinate ${first + offender} is out of range` };
}
