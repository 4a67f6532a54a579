/** Heads of the authority's log: others show the heads they have seen, which reveals a rolled-back authority. */
import { equalBytes, type Signer, type Suite } from '@basa/masking';
import { type Head, type HeadBody, headCodec } from '../wire/head.ts';
import { isSigned, signStatement } from '../wire/signed.ts';

/**
 * The authority's own log: its length, its hash after any number of records, and its branches. A new branch begins when
 * the log was found rolled back, and everything that is open then is given up.
 */
export interface LogPosition {
  readonly sequence: number;
  /** The names of its branches, the current one last. */
  readonly branches: readonly Uint8Array[];
  /** Branches of other lives of this log, each met once by one of its heads. */
  readonly retired: readonly Uint8Array[];
  /** The number of its records that revoke a device. */
  readonly revocations: number;
  hashAt(sequence: number): Uint8Array | undefined;
}

/** The branch of a log that was never rolled back. */
export const FIRST_BRANCH: Uint8Array = new Uint8Array(16);

export function signHead(signer: Signer, log: LogPosition): Head {
  return signStatement(headCodec, signer, headOf(log));
}

function headOf({ sequence, branches, revocations, hashAt }: LogPosition): HeadBody {
  const branch = branches.at(-1) ?? FIRST_BRANCH;
  return { branch, sequence, revocations, hash: hashAt(sequence) ?? new Uint8Array(32) };
}

/** True if this authority issued the head. */
export function isOwnHead(suite: Suite, authorityKey: Uint8Array, seen: Head): boolean {
  return isSigned(suite, headCodec, seen, authorityKey);
}

/**
 * True if a head of this authority shows that something open here may have continued in another life of the log, which was
 * lost. That life and this log share their first records, up to their fork; it contains everything that was open at the fork,
 * and nothing that was drawn here afterwards.
 *
 * - A head of the current branch: the lives fork in this branch, perhaps now. Ahead of the log or beside it, it is proof.
 * - A head of a past branch: its life forks before the next branch began here, and everything open was given up then.
 * - A head of a branch that was never met: its life may fork anywhere. Its hash covers the record that began the branch, so it
 *   never agrees with the log, and it is proof.
 * - A head of a retired branch, even one further than the head that was met: all lives with this branch descend from the
 *   record that began it, which is not in this log. They fork at the same point as the first one, so before it was met, and
 *   everything open was given up then. It proves nothing new, however often it is shown.
 */
export function contradictsLog({ branches, retired, hashAt }: LogPosition, seen: Head): boolean {
  const isSettled = [...branches.slice(0, -1), ...retired].some((name) => equalBytes(name, seen.branch));
  if (isSettled) return false;
  const own = hashAt(seen.sequence);
  return own === undefined || !equalBytes(own, seen.hash);
}
