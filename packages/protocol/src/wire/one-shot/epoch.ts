/** Statements of one authority that devices rely on in the one-shot mode: its epoch key, and its knowledge at a certain time. */
import { isAgreementKey, isKemKey, KEM_KEY_BYTES, type Suite } from '@basa/masking';
import { type Millis, millis, type TaskId } from '../brands.ts';
import { type Codec, message, nested } from '../codec.ts';
import { byRisingIndex, type Council, isSignedBySeat } from '../council.ts';
import { fixed, optional, record, u8, u53 } from '../fields.ts';
import { KIND } from '../kinds.ts';
import { type HeadBody, headField, MODEL_ENTRY_BYTES, type ModelEntry, modelEntryCodec } from '../model-log.ts';
import { field, STATEMENT_BYTES } from '../named-fields.ts';
import { type Signature, type SignedCodec, signedMessage } from '../signed.ts';
import type { OneShotPolicy } from './policy.ts';
import { isHybrid } from './sealings.ts';

/** Seeds may be sealed to these keys until `closes`. The statement is identified by its hash, because its number is not unique. */
export interface EpochBody {
  readonly task: TaskId;
  /** The index of the authority. */
  readonly authority: number;
  readonly number: number;
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
  number: u53,
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

/** The newest entry of the model log that this authority knew at this time, by its own clock. */
export interface BeaconBody {
  readonly authority: number;
  readonly entry: ModelEntry;
  readonly head: HeadBody;
  readonly at: Millis;
}
export type Beacon = BeaconBody & Signature;

export const beaconCodec: SignedCodec<BeaconBody> = signedMessage(KIND.beacon, 'beacon', {
  authority: u8,
  entry: nested(modelEntryCodec, MODEL_ENTRY_BYTES),
  head: headField,
  at: field.millis,
});

/** Bytes that fit a beacon. */
const BEACON_BYTES: number = STATEMENT_BYTES + MODEL_ENTRY_BYTES;

/** The current statements of one authority. */
export interface AuthorityStanding {
  readonly authority: number;
  readonly epoch: Epoch;
  readonly beacon: Beacon;
}

/** server -> device: the current statements of all authorities that the server has heard from. */
export interface Standings {
  readonly standings: readonly AuthorityStanding[];
}

const standingField = record<AuthorityStanding>({
  authority: u8,
  epoch: nested(epochCodec, EPOCH_BYTES),
  beacon: nested(beaconCodec, BEACON_BYTES),
});

/** authority -> server: the same for one authority. */
export const standingCodec: Codec<AuthorityStanding> = message<AuthorityStanding>(KIND.standing, 'standing', {
  authority: u8,
  epoch: nested(epochCodec, EPOCH_BYTES),
  beacon: nested(beaconCodec, BEACON_BYTES),
});

export const standingsCodec: Codec<Standings> = message<Standings>(KIND.standings, 'standings', {
  standings: byRisingIndex(standingField),
});
