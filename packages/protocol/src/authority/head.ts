/** Heads of the authority's log: how a rolled-back authority is met by what others have seen of it. */
import type { Signer, Suite } from '@basa/masking';
import { equalBytes } from '@basa/masking';
import type { Head, HeadBody } from '../statements.ts';
import { headCodec, isSigned } from '../statements.ts';

/** The authority's own log: its length, and its hash after so many records. */
export interface LogPosition {
  readonly sequence: number;
  hashAt(sequence: number): Uint8Array | undefined;
}

export function signHead(signer: Signer, log: LogPosition): Head {
  const body: HeadBody = { sequence: log.sequence, hash: log.hashAt(log.sequence) ?? new Uint8Array(32) };
  return { ...body, signature: signer.sign(headCodec.statement(body)) };
}

/** A head this authority signed that is ahead of its log, or beside it: the log is not the newest there was. */
export function contradictsLog(suite: Suite, authorityKey: Uint8Array, log: LogPosition, seen: Head): boolean {
  if (!isSigned(suite, headCodec, seen, authorityKey)) return false;
  const own = log.hashAt(seen.sequence);
  return seen.sequence > log.sequence || own === undefined || !equalBytes(own, seen.hash);
}
