/**
 * The memory of one device across all its sessions: the buffers it ever entered, and the buffer to which each update
 * was given. One ledger per device, behind one lock: two sessions that read it in parallel could give one update away
 * twice.
 */
import { equalBytes, type Suite, toHex } from '@basa/masking';
import type { Ctx, JoinTag } from '../wire/brands.ts';
import type { Council } from '../wire/council.ts';
import type { Descriptor } from '../wire/descriptor.ts';
import type { EpochName } from '../wire/one-shot/epoch.ts';
import { agreedOutcome, isOutcomeOf, type OutcomeOf } from '../wire/outcome.ts';
import { type Refused, refused } from '../wire/refusals.ts';

/** The buffer an update was given to. */
export interface DeltaCommitment {
  readonly ctx: Ctx;
  readonly joinTag: JoinTag;
  /** The version of the buffer. With one version per buffer, the update was trained on it. */
  readonly version: number;
  /** One-shot: the epochs that the upload names. `ctx` is then the name of the upload. */
  readonly epochs: readonly EpochName[];
}

/** The buffer or upload that has an update. */
export type GivenTo = Pick<DeltaCommitment, 'ctx' | 'joinTag'>;

/** A version of the model with the hash that the authority logged for it. */
export interface SeenModel {
  readonly version: number;
  readonly modelHash: Uint8Array;
}

export interface DeviceLedger {
  /** All buffers that the device ever entered, in hex. It never enters a buffer again that it has left. */
  readonly entered: ReadonlySet<string>;
  /** Updates by their id, as hex. */
  readonly deltas: ReadonlyMap<string, DeltaCommitment>;
  /** The newest version that was seen signed in this term: the device trains on no older one. */
  readonly seen: SeenModel | undefined;
  /** The last versions that were seen signed, the newest at the end: an update may be trained on one of them. */
  readonly recent: readonly SeenModel[];
  /** The newest epoch that was seen of each seat in this term, in which a seat has one key: the device seals to no earlier one. */
  readonly epochs: ReadonlyMap<number, number>;
}

/** Larger than the age of an update in any sensible task; an update on an older version is made again. */
const MAX_RECENT = 32;

export type LedgerRecord =
  | { readonly kind: 'entered'; readonly ctx: Ctx }
  | ({ readonly kind: 'committed'; readonly deltaId: Uint8Array } & DeltaCommitment)
  | { readonly kind: 'freed'; readonly deltaId: Uint8Array }
  | ({ readonly kind: 'seen' } & SeenModel)
  | { readonly kind: 'epoch'; readonly authority: number; readonly number: number };

export const EMPTY_LEDGER: DeviceLedger = {
  entered: new Set(),
  deltas: new Map(),
  seen: undefined,
  recent: [],
  epochs: new Map(),
};

/** The ledger after these records. It is copied once and not for each of them: after years there are thousands. */
export function restoreLedger(records: readonly LedgerRecord[], ledger: DeviceLedger = EMPTY_LEDGER): DeviceLedger {
  if (records.length === 0) return ledger;
  const entered = new Set(ledger.entered);
  const deltas = new Map(ledger.deltas);
  const epochs = new Map(ledger.epochs);
  let { seen, recent } = ledger;
  for (const entry of records) {
    switch (entry.kind) {
      case 'entered':
        entered.add(toHex(entry.ctx));
        break;
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
  return { entered, deltas, seen, recent, epochs };
}

/** Checks that the device may enter the buffer: only once. */
export function entryProblem({ entered }: DeviceLedger, ctx: Ctx): Refused | undefined {
  return entered.has(toHex(ctx)) ? refused('abandoned') : undefined;
}

/** Checks that the update may be given to this user of this buffer: it is free, or was given to it before. */
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
 * With one version per buffer a device contributes at most one update per version. Training is nearly deterministic:
 * sums over overlapping groups of devices on the same model would reveal single updates by subtraction (attack P1). An
 * update that an outcome freed may be given again, because it is in no sum.
 */
export function versionProblem(
  { deltas }: DeviceLedger,
  { version, versions }: Pick<Descriptor, 'version' | 'versions'>,
  deltaId?: Uint8Array,
): Refused | undefined {
  if (versions !== 'one') return undefined;
  const own = deltaId === undefined ? undefined : toHex(deltaId);
  const isGiven = [...deltas].some(([name, given]) => given.version === version && name !== own);
  return isGiven ? refused('version-given', { detail: `version ${version}` }) : undefined;
}

export type Released = { readonly kind: 'free' } | { readonly kind: 'included' } | Refused;

export interface OutcomePorts {
  readonly suite: Suite;
  readonly council: Council;
}

/**
 * Decides whether an update given to a buffer may go elsewhere: only if enough authorities state that the buffer was
 * aborted, or closed without it; a mix of answers frees nothing. A server that falsely says "aborted" would collect it
 * twice and learn a difference of sums (attack I1).
 */
export function judgeOutcome(
  { suite, council }: OutcomePorts,
  commitment: GivenTo,
  answers: readonly OutcomeOf[],
): Released {
  const outcome = agreedOutcome(suite, council, commitment.ctx, answers);
  if (outcome === undefined) {
    // Honest authorities may not agree yet. This is not a fault.
    const isGood = answers.every((one) => isOutcomeOf(suite, council, commitment.ctx, one));
    return refused(isGood ? 'outcome-undecided' : 'outcome-invalid');
  }
  if (outcome.status === 'aborted') return { kind: 'free' };
  if (outcome.status !== 'closed') return refused('outcome-undecided');
  return outcome.accepted.some(({ joinTag }) => equalBytes(joinTag, commitment.joinTag))
    ? { kind: 'included' }
    : { kind: 'free' };
}
