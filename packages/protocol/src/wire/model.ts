/** The model that devices train on: the server's statement, which uploads name, and the message with which devices get it. */
import type { Suite } from '@basa/masking';
import type { TaskId } from './brands.ts';
import { type Codec, message, nested } from './codec.ts';
import { MAX_AUTHORITIES } from './council.ts';
import { list, u53 } from './fields.ts';
import { KIND } from './kinds.ts';
import { field, STATEMENT_BYTES } from './named-fields.ts';
import { EPOCH_BYTES, type Epoch, epochCodec } from './one-shot/epoch.ts';
import { type Signature, type SignedCodec, signedMessage } from './signed.ts';

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

export const modelStatementCodec: SignedCodec<ModelStatementBody> = signedMessage(
  KIND.modelStatement,
  'modelStatement',
  { task: field.task, version: u53, serial: u53, modelHash: field.hash },
);

/** The name of a model: the hash of its statement, without the signature. */
export function modelNameOf(suite: Suite, statement: ModelStatementBody): Uint8Array {
  return modelStatementCodec.statementHash(suite, statement);
}

/** server -> device: the newest model, and the live epochs of the authorities that the server has heard from. */
export interface ShownModel {
  readonly statement: ModelStatement;
  readonly epochs: readonly Epoch[];
}

/** Live epochs of one authority in one message: the next one opens before the last one closes. */
const MAX_LIVE = 4;

/** Bytes that fit `shownModelCodec`. */
export const SHOWN_MODEL_BYTES: number = STATEMENT_BYTES + MAX_LIVE * MAX_AUTHORITIES * (EPOCH_BYTES + 2) + 16;

const liveEpochs = list(MAX_LIVE * MAX_AUTHORITIES, nested(epochCodec, EPOCH_BYTES));

export const shownModelCodec: Codec<ShownModel> = message<ShownModel>(KIND.shownModel, 'shownModel', {
  statement: nested(modelStatementCodec, STATEMENT_BYTES),
  epochs: liveEpochs,
});

/** authority -> server: its epochs that are live. */
export interface LiveEpochs {
  readonly epochs: readonly Epoch[];
}

export const liveEpochsCodec: Codec<LiveEpochs> = message<LiveEpochs>(KIND.liveEpochs, 'liveEpochs', {
  epochs: liveEpochs,
});
