/** Which problems decide what becomes of an update, and which are faults that leave it undecided. */
import { isRefusalReason, type ProblemCode, problemOf, type RefusalReason } from '@basa/protocol';
import { ProblemError } from '../errors.ts';
import type { Rejection } from './contribution.ts';

/** The protocol's own no: it stays one, however often it is asked. */
export function refusalOf(error: unknown): RefusalReason | undefined {
  return error instanceof ProblemError && isRefusalReason(error.code) ? error.code : undefined;
}

/** The rejection of an update that nobody has yet; a fault is thrown on. */
export function rejectionOf(error: unknown): Rejection {
  if (!(error instanceof ProblemError) || error.code === 'unknown-problem') throw error;
  if (problemOf(error.code).about !== 'update') throw error;
  return rejected(error.code, 'free', error);
}

export function rejected(
  reason: ProblemCode,
  update: Rejection['update'],
  { detail, retryAfterMs }: { readonly detail?: string | undefined; readonly retryAfterMs?: number | undefined } = {},
): Rejection {
  return {
    kind: 'rejected',
    reason,
    update,
    ...(detail === undefined ? {} : { detail }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
