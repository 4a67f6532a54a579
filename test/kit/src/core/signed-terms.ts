/** Makes the next term of a task, with every signature that a test wants on it. */
import type { Signer } from '@basa/masking';
import {
  acceptTerm,
  currentHash,
  endorseTerm,
  millis,
  recoverTerm,
  SERVER_SEAT,
  type TaskPolicy,
  type Term,
  taskIdOf,
  termNumber,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';

export interface WantedTerm {
  readonly key: Signer;
  /** By default 0; `SERVER_SEAT` for the server. */
  readonly seat?: number;
  /** The seat's authority left no last head. Not for the server, which never has one. */
  readonly isLost?: boolean;
  /** Seats of the current term that agree. */
  readonly signers: readonly Signer[];
  readonly recovery?: Signer | undefined;
  /** Of the term's lines, signed like the others. */
  readonly change?: Partial<Term>;
}

export const HEAD = { branch: new Uint8Array(16), sequence: 12, revocations: 1, hash: new Uint8Array(32).fill(5) };

/** Begins as early as the policy allows. */
export function signedTerm(policy: TaskPolicy, wanted: WantedTerm): Term {
  const { key, seat = 0, isLost = false, signers, recovery, change } = wanted;
  const body = {
    task: taskIdOf(suite, policy),
    number: termNumber(policy) + 1,
    previous: currentHash(suite, policy),
    seat,
    key: key.publicKey,
    address: seat === SERVER_SEAT ? '' : 'https://authority.example:8443',
    last: isLost || seat === SERVER_SEAT ? undefined : HEAD,
    effective: millis((policy.term?.effective ?? 0) + (policy.succession?.waitMs ?? 0)),
    ...change,
  };
  const accepted = acceptTerm(suite, key, body);
  const term: Term = { ...body, accepted, recovery: recovery && recoverTerm(suite, recovery, body), endorsements: [] };
  return signers.reduce((signed, one) => endorseTerm(policy, one, signed), term);
}
