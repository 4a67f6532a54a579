/** The model that devices train on and the epoch keys to which they seal: message 1. */
import { isAgreementKey, isKemKey, KEM_KEY_BYTES, type Suite } from '@basa/masking';
import { type Message, message, nested, type Signature, type SignedCodec, signedMessage } from './codec.ts';
import { byRisingIndex, type Council, isSignedBySeat } from './council.ts';
import {
  field,
  fixed,
  KIND,
  list,
  MAX_AUTHORITIES,
  type Millis,
  millis,
  optional,
  record,
  STATEMENT_BYTES,
  type TaskId,
  u8,
  u53,
} from './fields.ts';
import { isHybrid, type OneShotPolicy } from './one-shot-policy.ts';

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

export const Epoch: SignedCodec<EpochBody> = signedMessage(KIND.epoch, 'epoch', {
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
  return { authority: epoch.authority, statement: Epoch.statementHash(suite, epoch) };
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
  return isLong && hasGoodKeys(oneShot, epoch) && isSignedBySeat(suite, Epoch, rules, epoch.authority, epoch);
}

/** All parties must judge the keys in the same way. A key that only some accept would split the holders of a part. */
function hasGoodKeys({ sealing }: Pick<OneShotPolicy, 'sealing'>, { key, kemKey }: EpochBody): boolean {
  return isAgreementKey(key) && (isHybrid(sealing) ? kemKey !== undefined && isKemKey(kemKey) : kemKey === undefined);
}

/** The time at which its unit is destroyed: an epoch after it closed, so that a batch has time to be voted for and released. */
export function epochEnd({ epochMs }: Pick<OneShotPolicy, 'epochMs'>, { closes }: Pick<EpochBody, 'closes'>): Millis {
  return millis(closes + epochMs);
}

/** w^t of a task has this hash. The server signs it: it always chose the model. */
export interface ModelStatementBody {
  readonly task: TaskId;
  /** t: counts 0, 1, 2, ... for ages, pages and people. */
  readonly version: number;
  /** Rises with every version, and is at least the time in seconds: a restored server offers no serial that devices gave on. */
  readonly serial: number;
  /** Of the parameters. */
  readonly modelHash: Uint8Array;
}
export type ModelStatement = ModelStatementBody & Signature;

export const ModelStatement: SignedCodec<ModelStatementBody> = signedMessage(KIND.modelStatement, 'modelStatement', {
  task: field.task,
  version: u53,
  serial: u53,
  modelHash: field.hash,
});

/** The name of a model: the hash of its statement, without the signature. */
export function modelNameOf(suite: Suite, statement: ModelStatementBody): Uint8Array {
  return ModelStatement.statementHash(suite, statement);
}

/** server -> device: the newest model, and the live epochs of the authorities that the server has heard from. */
export interface ShownModel {
  readonly statement: ModelStatement;
  readonly epochs: readonly Epoch[];
}

/** Live epochs of one authority in one message: the next one opens before the last one closes. */
const MAX_LIVE = 4;

const liveEpochs = list(MAX_LIVE * MAX_AUTHORITIES, nested(Epoch, EPOCH_BYTES));

export const ShownModel: Message<ShownModel> = message<ShownModel>(KIND.shownModel, 'shownModel', {
  statement: nested(ModelStatement, STATEMENT_BYTES),
  epochs: liveEpochs,
});

/** authority -> server: its epochs that are live. */
export interface LiveEpochs {
  readonly epochs: readonly Epoch[];
}

export const LiveEpochs: Message<LiveEpochs> = message<LiveEpochs>(KIND.liveEpochs, 'liveEpochs', {
  epochs: liveEpochs,
});
