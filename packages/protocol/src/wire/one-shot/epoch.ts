/** The epoch keys of an authority, to which devices seal the seeds of their masks. */
import { isAgreementKey, isKemKey, KEM_KEY_BYTES, type Suite } from '@basa/masking';
import { type Millis, millis, type TaskId } from '../brands.ts';
import { byRisingIndex, type Council, isSignedBySeat } from '../council.ts';
import { fixed, optional, record, u8 } from '../fields.ts';
import { KIND } from '../kinds.ts';
import { field, STATEMENT_BYTES } from '../named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from '../signed.ts';
import type { OneShotPolicy } from './policy.ts';
import { isHybrid } from './sealings.ts';

/** Seeds may be sealed to these keys until `closes`. The statement is identified by its hash. */
export interface EpochBody {
  readonly task: TaskId;
  /** The index of the authority. */
  readonly authority: number;
  /** X25519. */
  readonly key: Uint8Array;
  /** ML-KEM-768, if the task seals with it. */
  readonly kemKey: Uint8Array | undefined;
  readonly opens: Millis;
  readonly closes: Millis;
}
export type Epoch = EpochBody & Signature;

export const epochCodec: SignedCodec<EpochBody> = signedMessage(KIND.epoch, 'epoch', {
  task: field.task,
  authority: u8,
  key: fixed(32),
  kemKey: optional(fixed(KEM_KEY_BYTES)),
  opens: field.millis,
  closes: field.millis,
});

/** Bytes that fit an epoch. */
export const EPOCH_BYTES: number = STATEMENT_BYTES + KEM_KEY_BYTES;

/** An epoch as an upload names it. */
export interface EpochName {
  readonly authority: number;
  /** The hash of the statement. */
  readonly statement: Uint8Array;
}

export const epochNamesField = byRisingIndex(record<EpochName>({ authority: u8, statement: field.hash }));

export function epochNameOf(suite: Suite, epoch: EpochBody): EpochName {
  return { authority: epoch.authority, statement: epochCodec.statementHash(suite, epoch) };
}

/** The parts of a policy on which its epochs depend. */
interface EpochRules extends Omit<Council, 'threshold'> {
  readonly oneShot: Pick<OneShotPolicy, 'epochMs' | 'sealing'> | undefined;
}

/** Returns whether the authority that it names signed it, its length is that of the policy, and its keys are valid for the policy's sealing. */
export function isEpochOf(suite: Suite, rules: EpochRules, epoch: Epoch): boolean {
  const { oneShot } = rules;
  if (oneShot === undefined) return false;
  const isLong = epoch.closes - epoch.opens === oneShot.epochMs;
  return isLong && hasGoodKeys(oneShot, epoch) && isSignedBySeat(suite, epochCodec, rules, epoch.authority, epoch);
}

/** All parties must judge the keys in the same way. A key that only some accept would split the holders of a part. */
function hasGoodKeys({ sealing }: Pick<OneShotPolicy, 'sealing'>, { key, kemKey }: EpochBody): boolean {
  return isAgreementKey(key) && (isHybrid(sealing) ? kemKey !== undefined && isKemKey(kemKey) : kemKey === undefined);
}

/** The time at which its unit is destroyed: an epoch after it closed, so that a batch has time to be voted for and released. */
export function epochEnd({ epochMs }: Pick<OneShotPolicy, 'epochMs'>, { closes }: Pick<EpochBody, 'closes'>): Millis {
  return millis(closes + epochMs);
}
