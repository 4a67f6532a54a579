/** Heads of the authority's log: how a rolled-back authority is met by what others have seen of it. */
import type { Signer, Suite } from '@basa/masking';
import { equalBytes } from '@basa/masking';
import type { Head, HeadBody, ModelEntry, NewestModel } from '../statements.ts';
import { headCodec, isSigned, newestModelCodec } from '../statements.ts';

/**
 * The authority's own log: its length, its hash after so many records, and its branches. A new branch begins when the log
 * was found rolled back; everything open was given up then, so heads of earlier branches have nothing more to say.
 */
export interface LogPosition {
  readonly sequence: number;
  /** The names of its branches, the current one last. */
  readonly branches: readonly Uint8Array[];
  hashAt(sequence: number): Uint8Array | undefined;
}

/** The branch of a log that was never rolled back. */
export const FIRST_BRANCH: Uint8Array = new Uint8Array(16);

export function signHead(signer: Signer, log: LogPosition): Head {
  const body = headOf(log);
  return { ...body, signature: signer.sign(headCodec.statement(body)) };
}

/** For whoever asks with this nonce; undefined before version 0. */
export function signNewest(
  signer: Signer,
  log: LogPosition,
  entry: ModelEntry | undefined,
  nonce: Uint8Array,
): NewestModel | undefined {
  if (entry === undefined) return undefined;
  const body = { nonce, entry, head: headOf(log) };
  return { ...body, signature: signer.sign(newestModelCodec.statement(body)) };
}

function headOf({ sequence, branches, hashAt }: LogPosition): HeadBody {
  return { branch: branches.at(-1) ?? FIRST_BRANCH, sequence, hash: hashAt(sequence) ?? new Uint8Array(32) };
}

/** Whether this authority gave the head out. */
export function isOwnHead(suite: Suite, authorityKey: Uint8Array, seen: Head): boolean {
  return isSigned(suite, headCodec, seen, authorityKey);
}

/** An own head that is ahead of the log, or beside it: the log is not the newest there was. */
export function contradictsLog({ branches, sequence, hashAt }: LogPosition, seen: Head): boolean {
  const branch = branches.findIndex((name) => equalBytes(name, seen.branch));
  if (branch >= 0 && branch < branches.length - 1) return false;
  const own = hashAt(seen.sequence);
  return branch < 0 || seen.sequence > sequence || own === undefined || !equalBytes(own, seen.hash);
}
