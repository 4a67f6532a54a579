/**
 * A log that was rolled back: the heads and epochs that reveal it, and the new branch that follows. Each rollback is handled once, and
 * gives up every open epoch: no masks of it are released, and an update that was sealed to it never enters another batch.
 */
import type { Millis } from '../wire/brands.ts';
import type { BasaEvent } from '../wire/events.ts';
import type { Head } from '../wire/model-log.ts';
import { type Epoch, epochCodec } from '../wire/one-shot/epoch.ts';
import { isSigned } from '../wire/signed.ts';
import { type Transition, unchanged } from '../wire/transition.ts';
import { contradictsLog, isOwnHead } from './head.ts';
import { deadEpochs } from './one-shot/epochs.ts';
import type { AuthorityPorts } from './ports.ts';
import type { AuthorityRecord } from './records.ts';
import type { AuthorityState } from './state.ts';

export interface RollbackScope {
  readonly ports: AuthorityPorts;
  readonly state: AuthorityState;
  /** The name of the branch that begins if the log was rolled back: new random bytes. */
  readonly freshBranch: Uint8Array;
  readonly now: Millis;
}

type Meeting = Transition<undefined, AuthorityRecord, { readonly rolledBack: boolean }>;

/** Takes a head that a party got earlier. A head that contradicts the log proves a rollback. */
export function meetHead(scope: RollbackScope, seen: Head): Meeting {
  const { ports, state } = scope;
  const isRolledBack = isOwnHead(ports.suite, ports.signer.publicKey, seen) && contradictsLog(state.position, seen);
  return isRolledBack ? beginBranch(scope, [seen]) : unchanged(undefined, { rolledBack: false });
}

/**
 * Takes an epoch of this authority that a party shows. An epoch that is missing in the log proves a rollback.
 *
 * If it opened before the current branch began, it proves nothing new: the time of an authority never goes back behind a record, so a life of
 * the log with this branch opens no such epoch. The life with the epoch forks before the branch, and everything open was given up when the
 * branch began. The epoch is only recorded as dead. Otherwise every lost epoch would give up everything open again.
 */
export function meetEpoch(scope: RollbackScope, epoch: Epoch): Meeting {
  const { ports, state, now } = scope;
  const isOwn = isSigned(ports.suite, epochCodec, epoch, ports.signer.publicKey);
  const statement = epochCodec.statementHash(ports.suite, epoch);
  const isKnown = state.past.named(statement).length > 0;
  if (!isOwn || isKnown) return unchanged(undefined, { rolledBack: false });
  const records = deadEpochs(state.epochs, [{ statement }], now);
  if (epoch.opens >= state.branchedAt) return beginBranch(scope, [], records);
  return { state: undefined, records, answer: { rolledBack: false }, events: [] };
}

/** After a restart: the witness is the last head kept elsewhere. Without a valid one, nothing open can be trusted. */
export function meetWitness(scope: RollbackScope, witness: Head | undefined): Meeting {
  const isGood = witness !== undefined && isOwnHead(scope.ports.suite, scope.ports.signer.publicKey, witness);
  return isGood ? meetHead(scope, witness) : beginBranch(scope, []);
}

function beginBranch(
  { state, freshBranch, now }: RollbackScope,
  met: readonly Head[],
  lost: readonly AuthorityRecord[] = [],
): Meeting {
  const given = deadEpochs(state.epochs, state.epochs.all, now);
  const records: AuthorityRecord[] = [...given, ...lost, { kind: 'branch-begun', branch: freshBranch, met }];
  const events: BasaEvent[] = [{ kind: 'authority-rolled-back', givenUp: given.length }];
  return { state: undefined, records, answer: { rolledBack: true }, events };
}
