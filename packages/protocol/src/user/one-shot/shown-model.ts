/**
 * The device's checks of the message that shows it a model: the server signed the model, and the epochs are keys to which it may seal. The
 * server chooses what it shows. A device gives once for a serial and for none below, so an old model gains the server nothing.
 */
import { equalBytes, type Suite } from '@basa/masking';
import type { Millis, TaskId } from '../../wire/brands.ts';
import type { ModelStatement, ShownModel } from '../../wire/model.ts';
import { modelStatementCodec } from '../../wire/model.ts';
import { type Epoch, isEpochOf } from '../../wire/one-shot/epoch.ts';
import { isHolder, taskParts } from '../../wire/one-shot/parts.ts';
import { type OneShotPolicy, vouchersOf } from '../../wire/one-shot/policy.ts';
import type { TaskPolicy } from '../../wire/policy.ts';
import { type Refused, refused } from '../../wire/refusals.ts';
import { isSigned } from '../../wire/signed.ts';

export interface ModelQuestion {
  readonly suite: Suite;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  /** By the device's own clock. */
  readonly now: Millis;
}

/** The model to train on, and the epochs that an upload names. */
export interface Gathered {
  readonly kind: 'gathered';
  readonly statement: ModelStatement;
  /** At most one of each authority, by rising index. */
  readonly epochs: readonly Epoch[];
}

/** A task in paper mode has no epochs: only the statement counts there. */
export function receiveModel(question: ModelQuestion, shown: ShownModel): Gathered | Refused {
  const { suite, policy, task } = question;
  const { statement } = shown;
  if (!equalBytes(statement.task, task) || !isSigned(suite, modelStatementCodec, statement, policy.serverKey))
    return refused('model-invalid');
  if (policy.oneShot === undefined) return { kind: 'gathered', statement, epochs: [] };
  const epochs = usableEpochs(question, policy.oneShot, shown.epochs);
  return isEnough(policy, policy.oneShot, epochs)
    ? { kind: 'gathered', statement, epochs }
    : refused('epochs-missing', { detail: `usable keys of ${epochs.length} authorities` });
}

/** Of each authority the epoch that closes last: an old one would cost the upload. */
function usableEpochs(
  { suite, policy, task, now }: ModelQuestion,
  { epochMs }: OneShotPolicy,
  shown: readonly Epoch[],
): readonly Epoch[] {
  const good = shown.filter((epoch) => equalBytes(epoch.task, task) && isEpochOf(suite, policy, epoch));
  return [...policy.authorities.keys()].flatMap((authority): readonly Epoch[] => {
    const [last] = good.filter((epoch) => epoch.authority === authority).sort((a, b) => b.closes - a.closes);
    return last !== undefined && last.closes > now && last.closes <= now + 2 * epochMs ? [last] : [];
  });
}

/** At least t authorities, and in every part as many holders as must vouch for its sum. */
function isEnough(policy: TaskPolicy, oneShot: OneShotPolicy, epochs: readonly Epoch[]): boolean {
  if (epochs.length < policy.threshold) return false;
  return taskParts(policy).every(
    (part) => epochs.filter(({ authority }) => isHolder(part, authority)).length >= vouchersOf(oneShot),
  );
}
