/**
 * The memory of one device across all its sessions: the upload in which each update was given. One ledger per device, behind one lock: two
 * sessions that read it in parallel could give one update away twice.
 */
import { equalBytes, toHex } from '@basa/masking';
import type { Ctx, JoinTag } from '../wire/brands.ts';
import type { EpochName } from '../wire/one-shot/epoch.ts';
import { type Refused, refused } from '../wire/refusals.ts';

/** The upload in which an update was given. */
export interface DeltaCommitment {
  /** The name of the upload. */
  readonly ctx: Ctx;
  readonly joinTag: JoinTag;
  /** The version that the update was trained on. */
  readonly version: number;
  /** The epochs that the upload names. */
  readonly epochs: readonly EpochName[];
}

/** The upload that has an update. */
export type GivenTo = Pick<DeltaCommitment, 'ctx' | 'joinTag'>;

/** A version of the model with the hash that the authority logged for it. */
export interface SeenModel {
  readonly version: number;
  readonly modelHash: Uint8Array;
}

export interface DeviceLedger {
  /** Updates by their id, as hex. */
  readonly deltas: ReadonlyMap<string, DeltaCommitment>;
  /** The newest version that was seen signed: the device trains on no older one. */
  readonly seen: SeenModel | undefined;
  /** The last versions that were seen signed, the newest at the end: an update may be trained on one of them. */
  readonly recent: readonly SeenModel[];
  /** The newest epoch that was seen of each authority: the device seals to no earlier one. */
  readonly epochs: ReadonlyMap<number, number>;
}

/** Larger than the age of an update in any sensible task; an update on an older version is made again. */
const MAX_RECENT = 32;

export type LedgerRecord =
  | ({ readonly kind: 'committed'; readonly deltaId: Uint8Array } & DeltaCommitment)
  | { readonly kind: 'freed'; readonly deltaId: Uint8Array }
  | ({ readonly kind: 'seen' } & SeenModel)
  | { readonly kind: 'epoch'; readonly authority: number; readonly number: number };

export const EMPTY_LEDGER: DeviceLedger = {
  deltas: new Map(),
  seen: undefined,
  recent: [],
  epochs: new Map(),
};

/** The ledger after these records. It is copied once and not for each of them: after years there are thousands. */
export function restoreLedger(records: readonly LedgerRecord[], ledger: DeviceLedger = EMPTY_LEDGER): DeviceLedger {
  if (records.length === 0) return ledger;
  const deltas = new Map(ledger.deltas);
  const epochs = new Map(ledger.epochs);
  let { seen, recent } = ledger;
  for (const entry of records) {
    switch (entry.kind) {
      case 'committed': {
        const { ctx, joinTag, version, epochs: named } = entry;
        deltas.set(toHex(entry.deltaId), { ctx, joinTag, version, epochs: named });
        break;
      }
      case 'freed':
        deltas.delete(toHex(entry.deltaId));
        break;
      case 'epoch':
        epochs.set(entry.authority, entry.number);
        break;
      case 'seen':
        seen = { version: entry.version, modelHash: entry.modelHash };
        recent = [...recent, seen].slice(-MAX_RECENT);
    }
  }
  return { deltas, seen, recent, epochs };
}

/** Checks that the update may be given in this upload: it is free, or was given in it before. */
export function commitmentProblem(
  { deltas }: DeviceLedger,
  deltaId: Uint8Array,
  { ctx, joinTag }: GivenTo,
): Refused | undefined {
  const given = deltas.get(toHex(deltaId));
  const isSame = given === undefined || (equalBytes(given.ctx, ctx) && equalBytes(given.joinTag, joinTag));
  return isSame ? undefined : refused('delta-committed');
}

/**
 * A device contributes at most one update per version. Training is nearly deterministic:
 * sums over overlapping groups of devices on the same model would reveal single updates by subtraction (attack P1). An
 * update that an outcome freed may be given again, because it is in no sum.
 */
export function versionProblem({ deltas }: DeviceLedger, version: number, deltaId?: Uint8Array): Refused | undefined {
  const own = deltaId === undefined ? undefined : toHex(deltaId);
  const isGiven = [...deltas].some(([name, given]) => given.version === version && name !== own);
  return isGiven ? refused('version-given', { detail: `version ${version}` }) : undefined;
}

export type Released = { readonly kind: 'free' } | { readonly kind: 'included' } | Refused;
