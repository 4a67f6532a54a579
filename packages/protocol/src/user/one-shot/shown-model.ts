/**
 * The device's checks of the message that shows it a model: the server signed the model, and the epochs are keys to which it may seal. The
 * server chooses what it shows. A device gives once for a serial and for none below, so an old model gains the server nothing.
 */
import { equalBytes, type Suite } from '@basa/masking';
import type { Millis, TaskId } from '../../wire/brands.ts';
import type { ModelStatementBody, ShownModel } from '../../wire/model.ts';
import { modelStatementCodec } from '../../wire/model.ts';
import { type Epoch, isEpochOf } from '../../wire/one-shot/epoch.ts';
import { isHolder, taskParts } from '../../wire/one-shot/parts.ts';
import { type OneShotPolicy, vouchersOf } from '../../wire/one-shot/policy.ts';
import type { TaskPolicy } from '../../wire/policy.ts';
import { type Refused, refused } from '../../wire/refusals.ts';
import { isSigned } from '../../wire/signed.ts';
import { windowAt, windowStatement } from '../../wire/statistics.ts';

export interface ModelQuestion {
  readonly suite: Suite;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  /** By the device's own clock. */
  readonly now: Millis;
}

/** The model to train on, or the window of a statistics task by the device's own clock; and the epochs that an upload names. */
export interface Gathered {
  readonly kind: 'gathered';
  readonly statement: ModelStatementBody;
  /** At most one of each authority, by rising index. */
  readonly epochs: readonly Epoch[];
}

/** A task in paper mode has no epochs: only the statement counts there. */
export function receiveModel(question: ModelQuestion, shown: ShownModel): Gathered | Refused {
  const { policy } = question;
  const statement = statementOf(question, shown);
  if (statement === undefined) return refused('model-invalid');
  if (policy.oneShot === undefined) return { kind: 'gathered', statement, epochs: [] };
  const epochs = usableEpochs(question, policy.oneShot, shown.epochs);
  return isEnough(policy, policy.oneShot, epochs)
    ? { kind: 'gathered', statement, epochs }
    : refused('epochs-missing', { detail: `usable keys of ${epochs.length} authorities` });
}

/** A statistics task has no model: whatever it is shown, the device reports for the window of its own clock. */
function statementOf(
  { suite, policy, task, now }: ModelQuestion,
  { statement }: ShownModel,
): ModelStatementBody | undefined {
  const { statistics, serverKey } = policy;
  if (statistics !== undefined) return windowStatement(task, statistics, windowAt(statistics, now));
  const isOfServer = equalBytes(statement.task, task) && isSigned(suite, modelStatementCodec, statement, serverKey);
  return isOfServer ? statement : undefined;
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
