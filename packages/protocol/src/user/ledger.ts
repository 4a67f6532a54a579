/**
 * What one device must remember across all its sessions: which buffers it ever entered, and to which buffer each update was
 * given. One ledger a device, behind one lock: two sessions that read it side by side could give one update away twice.
 */
import type { Suite } from '@basa/masking';
import { equalBytes, toHex } from '@basa/masking';
import type { Ctx, JoinTag } from '../wire/brands.ts';
import type { Council } from '../wire/council.ts';
import type { OutcomeOf } from '../wire/outcome.ts';
import { agreedOutcome, isOutcomeOf } from '../wire/outcome.ts';
import type { Refused } from '../wire/refusals.ts';
import { refused } from '../wire/refusals.ts';

/** The buffer an update was given to. */
export interface DeltaCommitment {
  readonly ctx: Ctx;
  readonly joinTag: JoinTag;
}

/** A version of the model with the hash that the authority logged for it. */
export interface SeenModel {
  readonly version: number;
  readonly modelHash: Uint8Array;
}

export interface DeviceLedger {
  /** Buffers ever entered, as hex: a buffer that was left is left for good. */
  readonly entered: ReadonlySet<string>;
  /** Updates by their id, as hex. */
  readonly deltas: ReadonlyMap<string, DeltaCommitment>;
  /** The newest version that was ever seen signed: the device trains on none that is older. */
  readonly seen: SeenModel | undefined;
}

export type LedgerRecord =
  | { readonly kind: 'entered'; readonly ctx: Ctx }
  | { readonly kind: 'committed'; readonly deltaId: Uint8Array; readonly ctx: Ctx; readonly joinTag: JoinTag }
  | { readonly kind: 'freed'; readonly deltaId: Uint8Array }
  | ({ readonly kind: 'seen' } & SeenModel);

export const EMPTY_LEDGER: DeviceLedger = { entered: new Set(), deltas: new Map(), seen: undefined };

export function restoreLedger(records: readonly LedgerRecord[]): DeviceLedger {
  return records.reduce(evolveLedger, EMPTY_LEDGER);
}

export function evolveLedger(ledger: DeviceLedger, entry: LedgerRecord): DeviceLedger {
  switch (entry.kind) {
    case 'entered':
      return { ...ledger, entered: new Set(ledger.entered).add(toHex(entry.ctx)) };
    case 'committed': {
      const { ctx, joinTag } = entry;
      return { ...ledger, deltas: new Map(ledger.deltas).set(toHex(entry.deltaId), { ctx, joinTag }) };
    }
    case 'freed': {
      const deltas = new Map(ledger.deltas);
      deltas.delete(toHex(entry.deltaId));
      return { ...ledger, deltas };
    }
    case 'seen':
      return { ...ledger, seen: { version: entry.version, modelHash: entry.modelHash } };
  }
}

/** Whether the device may enter the buffer: once, ever. */
export function entryProblem({ entered }: DeviceLedger, ctx: Ctx): Refused | undefined {
  return entered.has(toHex(ctx)) ? refused('abandoned') : undefined;
}

/** Whether the update may be given to this user of this buffer: it is free, or was given to it before. */
export function commitmentProblem(
  { deltas }: DeviceLedger,
  deltaId: Uint8Array,
  { ctx, joinTag }: DeltaCommitment,
): Refused | undefined {
  const given = deltas.get(toHex(deltaId));
  const isSame = given === undefined || (equalBytes(given.ctx, ctx) && equalBytes(given.joinTag, joinTag));
  return isSame ? undefined : refused('delta-committed');
}

export type Released = { readonly kind: 'free' } | { readonly kind: 'included' } | Refused;

export interface OutcomePorts {
  readonly suite: Suite;
  readonly council: Council;
}

/**
 * Whether an update given to a buffer may go elsewhere: only with the word of enough authorities that the buffer was
 * aborted, or closed without it: a mix of answers moves nothing. A server that lies "aborted" would collect it twice and learn a difference of sums (attack I1).
 */
export function judgeOutcome(
  { suite, council }: OutcomePorts,
  commitment: DeltaCommitment,
  answers: readonly OutcomeOf[],
): Released {
  const outcome = agreedOutcome(suite, council, commitment.ctx, answers);
  if (outcome === undefined) {
    // Authorities that are honest and do not agree yet are no fault of anybody.
    const isGood = answers.every((one) => isOutcomeOf(suite, council, commitment.ctx, one));
    return refused(isGood ? 'outcome-undecided' : 'outcome-invalid');
  }
  if (outcome.status === 'aborted') return { kind: 'free' };
  if (outcome.status !== 'closed') return refused('outcome-undecided');
  return outcome.accepted.some(({ joinTag }) => equalBytes(joinTag, commitment.joinTag))
    ? { kind: 'included' }
    : { kind: 'free' };
}
