/**
 * A log that was rolled back: the heads that reveal it, and the new branch that follows.
 */
import type { BasaEvent } from '../wire/events.ts';
import type { Head } from '../wire/head.ts';
import { type Transition, unchanged } from '../wire/transition.ts';
import { contradictsLog, isOwnHead } from './head.ts';
import type { AuthorityPorts } from './ports.ts';
import type { AuthorityRecord } from './records.ts';
import type { AuthorityState } from './state.ts';

export interface RollbackScope {
  readonly ports: AuthorityPorts;
  readonly state: AuthorityState;
  /** The name of the branch that begins if the log was rolled back: new random bytes. */
  readonly freshBranch: Uint8Array;
}

type Meeting = Transition<undefined, AuthorityRecord, { readonly rolledBack: boolean }>;

/** Takes a head that a party got earlier. A head that contradicts the log proves a rollback. */
export function meetHead(scope: RollbackScope, seen: Head): Meeting {
  const { ports, state } = scope;
  const isRolledBack = isOwnHead(ports.suite, ports.signer.publicKey, seen) && contradictsLog(state.position, seen);
  return isRolledBack ? beginBranch(scope, [seen]) : unchanged(undefined, { rolledBack: false });
}

/** After a restart: the witness is the last head kept elsewhere. Without a valid one, nothing open can be trusted. */
export function meetWitness(scope: RollbackScope, witness: Head | undefined): Meeting {
  const isGood = witness !== undefined && isOwnHead(scope.ports.suite, scope.ports.signer.publicKey, witness);
  return isGood ? meetHead(scope, witness) : beginBranch(scope, []);
}

function beginBranch({ freshBranch }: RollbackScope, met: readonly Head[]): Meeting {
  const events: BasaEvent[] = [{ kind: 'authority-rolled-back' }];
  const records: AuthorityRecord[] = [{ kind: 'branch-begun', branch: freshBranch, met }];
  return { state: undefined, records, answer: { rolledBack: true }, events };
}
